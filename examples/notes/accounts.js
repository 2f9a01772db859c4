// Who is asking: login, logout, and the token that each form carries.

import { randomBytes, timingSafeEqual } from "node:crypto";

import { Router } from "express";

import { loginPage } from "./pages.js";

export function accounts(store) {
  const router = Router();

  router.get("/login", (request, response) => {
    response.send(loginPage({ csrf: tokenOf(request) }));
  });

  router.post("/login", checkToken, (request, response, next) => {
    const { user, password } = request.body;
    if (!store.isPassword(user, password)) {
      response.status(401).send(loginPage({ csrf: tokenOf(request), wrong: true }));
      return;
    }
    // A new session, so that one which somebody planted is worth nothing.
    request.session.regenerate((error) => {
      if (error) return next(error);
      request.session.user = user;
      response.redirect(303, "/notes");
    });
  });

  router.post("/logout", signedIn, checkToken, (request, response, next) => {
    request.session.destroy((error) => {
      if (error) return next(error);
      response.clearCookie("notes.sid").redirect(303, "/login");
    });
  });

  return router;
}

// Lets nobody by who has not signed in.
export function signedIn(request, response, next) {
  if (request.session.user) return next();
  response.redirect(303, "/login");
}

// The token of this session, for a hidden field of a form.
export function tokenOf(request) {
  request.session.csrf ??= randomBytes(18).toString("base64url");
  return request.session.csrf;
}

// Refuses a form that no page of this session has shown.
export function checkToken(request, _response, next) {
  const [given, wanted] = [request.body?.csrf ?? "", request.session.csrf ?? ""].map(Buffer.from);
  if (wanted.length > 0 && given.length === wanted.length && timingSafeEqual(given, wanted)) return next();
  next(Object.assign(new Error("This form is too old: open the page again."), { status: 403, expose: true }));
}
