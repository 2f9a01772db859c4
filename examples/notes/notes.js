// The pages of a user's notes.

import { Router } from "express";

import { checkToken, signedIn, tokenOf } from "./accounts.js";
import { listPage, notePage } from "./pages.js";

export function notes(store, faults) {
  const router = Router();

  router.get("/", (_request, response) => response.redirect(303, "/notes"));

  router.get("/notes", signedIn, (request, response) => {
    const user = faults.strikes("leak", 50) ? store.anotherThan(request.session.user) : request.session.user;
    const list = store.list(user);
    const count = faults.strikes("count", 1000) ? list.length + 1 : list.length;
    response.send(listPage({ user, list, count, csrf: tokenOf(request) }));
  });

  router.post("/notes", signedIn, checkToken, faults.bottleneck(), (request, response) => {
    const { title, text } = request.body;
    if (!title?.trim()) {
      throw Object.assign(new Error("A note needs a title."), { status: 422, expose: true });
    }
    const note = store.add(request.session.user, title.trim(), text ?? "");
    response.redirect(303, `/notes/${note.id}`);
  });

  router.get("/notes/:id", signedIn, ownNote(store), (request, response) => {
    response.send(notePage({ user: request.session.user, note: request.note, csrf: tokenOf(request) }));
  });

  router.post("/notes/:id/delete", signedIn, checkToken, ownNote(store), (request, response) => {
    store.remove(request.session.user, request.note.id);
    response.redirect(303, "/notes");
  });

  return router;
}

// Finds the note that the path names; nobody sees another's.
function ownNote(store) {
  return (request, _response, next) => {
    request.note = store.find(request.session.user, request.params.id);
    if (request.note) return next();
    next(Object.assign(new Error("You have no such note."), { status: 404, expose: true }));
  };
}
