// The contract `web` in Hono on Node: routes, `c.json`, and a page by its helper `html`.

import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { html } from "hono/html";
import { GREETING, changes, fortunes, ids, options, token } from "./shared/web-node/contract.js";
import { Store } from "./shared/web-node/store.js";

const { host, port } = options();
const store = new Store();
const app = new Hono();

const row = ({ id, message }) => html`<tr><td>${id}</td><td>${message}</td></tr>`;
const page = (found) => html`<!DOCTYPE html>
<html>
<head><title>Fortunes</title></head>
<body>
<table>
<tr><th>id</th><th>message</th></tr>
${found.map(row)}
</table>
</body>
</html>`;

app.get("/plaintext", (c) => c.text(GREETING));
app.get("/json", (c) => c.json({ message: GREETING }));
app.get("/db", async (c) => c.json(await store.row(Number(c.req.query("id")))));
app.get("/queries", async (c) => c.json(await store.rows(ids(c.req.query()))));
app.get("/cached", async (c) => c.json(await store.cached(ids(c.req.query()))));

app.get("/updates", async (c) => {
  const changed = changes(c.req.query());
  await store.change(changed);
  return c.json(changed);
});

app.get("/fortunes", async (c) => c.html(page(fortunes(await store.fortunes()))));

app.post("/login", async (c) => {
  const made = await store.login(await c.req.json());
  return made ? c.json({ token: made }) : c.json({}, 401);
});

app.get("/items", async (c) => {
  const account = await store.account(token(c.req.header("authorization")));
  return account === undefined ? c.json({}, 401) : c.json(await store.items(account));
});

app.post("/items", async (c) => {
  const account = await store.account(token(c.req.header("authorization")));
  if (account === undefined) return c.json({}, 401);
  const { text } = await c.req.json();
  return c.json(await store.add(account, text), 201);
});

serve({ fetch: app.fetch, hostname: host, port: Number(port) });
