// The contract `web` in Deno: Deno.serve, a table of handlers, and requests and responses of the web.

import { GREETING, HTML, changes, fortunes, ids, options, token } from "./shared/web-node/contract.js";
import { page } from "./shared/web-node/page.js";
import { Store } from "./shared/web-node/store.js";

const { host, port } = options();
const store = new Store();

const say = (text, kind) => new Response(text, { headers: { "Content-Type": kind } });
const json = (said, status = 200) => Response.json(said, { status });

const account = (request) => store.account(token(request.headers.get("authorization")));

const ROUTES = {
  "GET /plaintext": () => say(GREETING, "text/plain"),
  "GET /json": () => json({ message: GREETING }),
  "GET /db": async (_, query) => json(await store.row(Number(query.id))),
  "GET /queries": async (_, query) => json(await store.rows(ids(query))),
  "GET /cached": async (_, query) => json(await store.cached(ids(query))),
  "GET /updates": async (_, query) => {
    const changed = changes(query);
    await store.change(changed);
    return json(changed);
  },
  "GET /fortunes": async () => say(page(fortunes(await store.fortunes())), HTML),
  "POST /login": async (request) => {
    const made = await store.login(await request.json());
    return json(made ? { token: made } : {}, made ? 200 : 401);
  },
  "GET /items": async (request) => {
    const known = await account(request);
    return known === undefined ? json({}, 401) : json(await store.items(known));
  },
  "POST /items": async (request) => {
    const { text } = await request.json();
    const known = await account(request);
    return known === undefined ? json({}, 401) : json(await store.add(known, text), 201);
  },
};

const handle = (request) => {
  const { pathname, searchParams } = new URL(request.url);
  const route = ROUTES[`${request.method} ${pathname}`];
  return route ? route(request, Object.fromEntries(searchParams)) : json({}, 404);
};

Deno.serve({ hostname: host, port: Number(port) }, handle);
