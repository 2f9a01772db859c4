// The contract `web` in Koa: @koa/router, @koa/bodyparser, and a page by EJS.

import { bodyParser } from "@koa/bodyparser";
import Router from "@koa/router";
import ejs from "ejs";
import Koa from "koa";
import { fileURLToPath } from "node:url";
import { GREETING, HTML, changes, fortunes, ids, options, token } from "./shared/web-node/contract.js";
import { Store } from "./shared/web-node/store.js";

const { host, port, tuned } = options();
const store = new Store();
const app = new Koa();
const router = new Router();
const template = fileURLToPath(new URL("./shared/web-node/fortunes.ejs", import.meta.url));

router.get("/plaintext", (ctx) => {
  ctx.body = GREETING;
});
router.get("/json", (ctx) => {
  ctx.body = { message: GREETING };
});
router.get("/db", async (ctx) => {
  ctx.body = await store.row(Number(ctx.query.id));
});
router.get("/queries", async (ctx) => {
  ctx.body = await store.rows(ids(ctx.query));
});
router.get("/cached", async (ctx) => {
  ctx.body = await store.cached(ids(ctx.query));
});
router.get("/updates", async (ctx) => {
  const changed = changes(ctx.query);
  await store.change(changed);
  ctx.body = changed;
});
router.get("/fortunes", async (ctx) => {
  const found = fortunes(await store.fortunes());
  ctx.type = HTML;
  ctx.body = await ejs.renderFile(template, { fortunes: found }, { cache: tuned });
});
router.post("/login", async (ctx) => {
  const made = await store.login(ctx.request.body);
  ctx.status = made ? 200 : 401;
  ctx.body = made ? { token: made } : {};
});

/** Finds out whose token it is; nobody gets further. */
const known = async (ctx, next) => {
  ctx.state.account = await store.account(token(ctx.get("authorization")));
  if (ctx.state.account !== undefined) return next();
  ctx.status = 401;
  ctx.body = {};
};

router.get("/items", known, async (ctx) => {
  ctx.body = await store.items(ctx.state.account);
});
router.post("/items", known, async (ctx) => {
  ctx.status = 201;
  ctx.body = await store.add(ctx.state.account, ctx.request.body.text);
});

app.use(bodyParser()).use(router.routes()).use(router.allowedMethods());
app.listen(Number(port), host);
