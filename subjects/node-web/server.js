// The contract `web` by node:http alone: a table of handlers, JSON, and a page that is put together.

import { createServer } from "node:http";
import { GREETING, HTML, changes, fortunes, ids, options, token } from "./shared/web-node/contract.js";
import { page } from "./shared/web-node/page.js";
import { Store } from "./shared/web-node/store.js";

const { host, port } = options();
const store = new Store();

const say = (response, status, kind, text) => {
  response.writeHead(status, { "Content-Type": kind, "Content-Length": Buffer.byteLength(text) });
  response.end(text);
};
const json = (response, said, status = 200) =>
  say(response, status, "application/json", JSON.stringify(said));

const body = async (request) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString());
};

const account = (request) => store.account(token(request.headers.authorization));

const ROUTES = {
  "GET /plaintext": (_, response) => say(response, 200, "text/plain", GREETING),
  "GET /json": (_, response) => json(response, { message: GREETING }),
  "GET /db": async (_, response, query) => json(response, await store.row(Number(query.id))),
  "GET /queries": async (_, response, query) => json(response, await store.rows(ids(query))),
  "GET /cached": async (_, response, query) => json(response, await store.cached(ids(query))),
  "GET /updates": async (_, response, query) => {
    const changed = changes(query);
    await store.change(changed);
    json(response, changed);
  },
  "GET /fortunes": async (_, response) =>
    say(response, 200, HTML, page(fortunes(await store.fortunes()))),
  "POST /login": async (request, response) => {
    const made = await store.login(await body(request));
    json(response, made ? { token: made } : {}, made ? 200 : 401);
  },
  "GET /items": async (request, response) => {
    const known = await account(request);
    if (known === undefined) json(response, {}, 401);
    else json(response, await store.items(known));
  },
  "POST /items": async (request, response) => {
    const { text } = await body(request);
    const known = await account(request);
    if (known === undefined) json(response, {}, 401);
    else json(response, await store.add(known, text), 201);
  },
};

const handle = async (request, response) => {
  const [path, query = ""] = request.url.split("?");
  const route = ROUTES[`${request.method} ${path}`];
  if (!route) {
    request.resume();
    json(response, {}, 404);
    return;
  }
  try {
    await route(request, response, Object.fromEntries(new URLSearchParams(query)));
  } catch (error) {
    json(response, { error: String(error) }, 500);
  }
};

createServer(handle).listen(Number(port), host);
