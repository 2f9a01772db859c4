// The contract `web` in Fastify: routes with schemas of their replies, and a page by @fastify/view.

import view from "@fastify/view";
import ejs from "ejs";
import Fastify from "fastify";
import { fileURLToPath } from "node:url";
import { GREETING, HTML, changes, fortunes, ids, options, token } from "./shared/web-node/contract.js";
import { Store } from "./shared/web-node/store.js";

const { host, port, tuned } = options();
const store = new Store();
const app = Fastify({ logger: !tuned });

app.register(view, {
  engine: { ejs },
  root: fileURLToPath(new URL("./shared/web-node", import.meta.url)),
  production: tuned,
});

const row = { type: "object", properties: { id: { type: "integer" }, number: { type: "integer" } } };
const message = { type: "object", properties: { message: { type: "string" } } };

/** What a route says of its reply: with it, Fastify compiles the serialiser. */
const replies = (reply) => ({ schema: { response: { 200: reply } } });
const rows = replies({ type: "array", items: row });

app.get("/plaintext", (_, reply) => reply.type("text/plain").send(GREETING));
app.get("/json", replies(message), async () => ({ message: GREETING }));
app.get("/db", replies(row), (request) => store.row(Number(request.query.id)));
app.get("/queries", rows, (request) => store.rows(ids(request.query)));
app.get("/cached", rows, (request) => store.cached(ids(request.query)));

app.get("/updates", rows, async (request) => {
  const changed = changes(request.query);
  await store.change(changed);
  return changed;
});

app.get("/fortunes", async (_, reply) => {
  const found = fortunes(await store.fortunes());
  return reply.type(HTML).view("fortunes.ejs", { fortunes: found });
});

app.post("/login", async (request, reply) => {
  const made = await store.login(request.body);
  return made ? { token: made } : reply.code(401).send({});
});

app.get("/items", async (request, reply) => {
  const account = await store.account(token(request.headers.authorization));
  return account === undefined ? reply.code(401).send({}) : store.items(account);
});

app.post("/items", async (request, reply) => {
  const account = await store.account(token(request.headers.authorization));
  if (account === undefined) return reply.code(401).send({});
  return reply.code(201).send(await store.add(account, request.body.text));
});

await app.listen({ host, port: Number(port) });
