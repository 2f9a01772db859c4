// The contract `web` in Express: routes, `res.json`, and a page by `res.render`.

import express from "express";
import { fileURLToPath } from "node:url";
import { GREETING, changes, fortunes, ids, options, token } from "./shared/web-node/contract.js";
import { Store } from "./shared/web-node/store.js";

const { host, port, tuned } = options();
const store = new Store();
const app = express();

app.set("view engine", "ejs");
app.set("views", fileURLToPath(new URL("./shared/web-node", import.meta.url)));
if (tuned) app.set("etag", false);
app.use(express.json());

app.get("/plaintext", (_, response) => response.type("text/plain").send(GREETING));
app.get("/json", (_, response) => response.json({ message: GREETING }));
app.get("/db", async ({ query }, response) => response.json(await store.row(Number(query.id))));
app.get("/queries", async ({ query }, response) => response.json(await store.rows(ids(query))));
app.get("/cached", async ({ query }, response) => response.json(await store.cached(ids(query))));

app.get("/updates", async ({ query }, response) => {
  const changed = changes(query);
  await store.change(changed);
  response.json(changed);
});

app.get("/fortunes", async (_, response) => {
  response.render("fortunes", { fortunes: fortunes(await store.fortunes()) });
});

app.post("/login", async ({ body }, response) => {
  const made = await store.login(body);
  if (made) response.json({ token: made });
  else response.status(401).json({});
});

/** Finds out whose token it is; nobody gets further. */
const known = async (request, response, next) => {
  request.account = await store.account(token(request.headers.authorization));
  if (request.account === undefined) response.status(401).json({});
  else next();
};

app.get("/items", known, async ({ account }, response) => {
  response.json(await store.items(account));
});

app.post("/items", known, async ({ account, body }, response) => {
  response.status(201).json(await store.add(account, body.text));
});

app.listen(Number(port), host);
