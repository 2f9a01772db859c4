// What the script of the page asks for: a search, as JSON.

import { setTimeout as sleep } from "node:timers/promises";

import { Router } from "express";

export function api(store, faults) {
  const router = Router();

  router.get("/search", async (request, response) => {
    const { user } = request.session;
    if (!user) {
      response.status(401).json({ error: "sign in first" });
      return;
    }
    if (faults.strikes("slow")) await sleep(400);
    const found = store.search(user, String(request.query.q ?? ""));
    response.json({ user, count: found.length, notes: found });
  });

  return router;
}
