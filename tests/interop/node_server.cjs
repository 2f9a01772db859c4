// A WebSocket echo with the package ws, which compresses for clients that offer it.
//
// Usage: node node_server.cjs CERT KEY; it says `ready http=IP:PORT https=IP:PORT`. NODE_PATH names
// the folder of ws.

"use strict";

const fs = require("node:fs");
const http = require("node:http");
const https = require("node:https");
const { WebSocketServer } = require("ws");

const [cert, key] = process.argv.slice(2).map((name) => fs.readFileSync(name));

Promise.all([http.createServer(), https.createServer({ cert, key })].map(listen)).then((ports) =>
  console.log(`ready http=127.0.0.1:${ports[0]} https=127.0.0.1:${ports[1]}`),
);

function listen(server) {
  const sockets = new WebSocketServer({ server, perMessageDeflate: { threshold: 0 } });
  sockets.on("connection", (socket) => {
    socket.on("error", () => socket.terminate());
    socket.on("message", (data, binary) => socket.send(data, { binary }));
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(server.address().port));
  });
}
