// Feathers: the service `messages` by REST, through Express, and by Socket.IO, on one port; and both
// over TLS on another.

import express, { errorHandler, json, rest, urlencoded } from "@feathersjs/express";
import { feathers } from "@feathersjs/feathers";
import socketio from "@feathersjs/socketio";
import { open, tuned } from "./shared/node-server/ports.js";

class Messages {
  async get(id) {
    return { id };
  }
}

await open(async (server) => {
  const app = application();
  server.on("request", app);
  await app.setup(server);
});

function application() {
  const app = express(feathers());
  app.use(json());
  app.use(urlencoded({ extended: true }));
  app.configure(rest());
  app.configure(socketio());
  app.use("messages", new Messages());
  app.use(errorHandler({ logger: tuned ? false : console }));
  return app;
}
