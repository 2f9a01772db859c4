// Notes: an Express application with forms, cookie sessions and CSRF tokens, as servers render them.
// PORT (8001) and HOST say where it listens; FAULT puts faults in (faults.js).

import { randomBytes } from "node:crypto";

import express from "express";
import session from "express-session";

import { accounts } from "./accounts.js";
import { api } from "./api.js";
import { Faults } from "./faults.js";
import { notes } from "./notes.js";
import { failed } from "./pages.js";
import { Store } from "./store.js";

const faults = new Faults(process.env.FAULT ?? "");
const store = new Store();

const app = express();
app.disable("x-powered-by");
app.use(express.urlencoded({ extended: false }));
app.use(session({
  secret: process.env.SECRET ?? randomBytes(32).toString("hex"),
  name: "notes.sid",
  resave: false,
  saveUninitialized: false,
  cookie: { httpOnly: true, sameSite: "lax" },
}));
app.get("/favicon.ico", (_request, response) => response.status(204).end());
app.use(accounts(store));
app.use(notes(store, faults));
app.use("/api", api(store, faults));
app.use((_request, response) => response.status(404).send(failed(404, "There is no such page.")));
app.use((error, _request, response, _next) => {
  const status = error.status ?? 500;
  response.status(status).send(failed(status, error.expose ? error.message : "Something broke."));
});

const server = app.listen(Number(process.env.PORT ?? 8001), process.env.HOST ?? "127.0.0.1", (error) => {
  if (error) throw error;
  const { address, port } = server.address();
  console.log(`notes: http://${address}:${port}/`);
});
