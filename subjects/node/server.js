// One Node process that serves HTTP (node:http) and WebSocket (ws) on one port, and both over TLS on
// another: POST /echo, GET /message, a WebSocket echo at /.
//
// Usage: node server.js HOST PORT [TLS_PORT CERT KEY]

import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import { WebSocketServer } from "ws";

const MESSAGE = Buffer.from(
  JSON.stringify({ seq: "0000000000000000", text: "one message of 64 bytes....." }),
);

const [host, port, tlsPort, cert, key] = process.argv.slice(2);

serve(http.createServer(), Number(port));
if (tlsPort) {
  const options = { cert: fs.readFileSync(cert), key: fs.readFileSync(key) };
  serve(https.createServer(options), Number(tlsPort));
}

process.once("SIGTERM", () => process.exit(0));

function serve(server, listenPort) {
  server.on("request", answer);
  const sockets = new WebSocketServer({ server, path: "/" });
  sockets.on("connection", echo);
  server.listen(listenPort, host);
}

function answer(request, response) {
  if (request.method === "POST" && request.url === "/echo") {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => reply(response, 200, "application/octet-stream", Buffer.concat(chunks)));
    return;
  }
  request.resume();
  if ((request.method === "GET" || request.method === "HEAD") && request.url === "/message") {
    reply(response, 200, "application/json", MESSAGE);
    return;
  }
  reply(response, 404, "text/plain", Buffer.from("not found\n"));
}

function reply(response, status, type, body) {
  response.writeHead(status, { "Content-Type": type, "Content-Length": body.length });
  response.end(body);
}

function echo(socket) {
  // Without a listener, the first bad frame of any client ends the whole process.
  socket.on("error", () => socket.terminate());
  socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
}
