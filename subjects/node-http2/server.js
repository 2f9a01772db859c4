// node:http2 on two ports: HTTP/2 alone without TLS, HTTP/2 and HTTP/1.1 inside it.

import fs from "node:fs";
import http2 from "node:http2";
import { parseArgs } from "node:util";

const MESSAGE = Buffer.from(
  JSON.stringify({ seq: "0000000000000000", text: "one message of 64 bytes....." }),
);
/** What a stream and a connection take before the server has read it, in bytes. */
const WINDOW = 1024 * 1024;

const text = { type: "string" };
const flags = parseArgs({
  options: {
    host: { type: "string", default: "127.0.0.1" },
    port: text,
    "tls-port": text,
    cert: text,
    key: text,
    tuned: { type: "boolean", default: false },
  },
}).values;
const settings = flags.tuned ? { settings: { initialWindowSize: WINDOW } } : {};
const identity = { cert: fs.readFileSync(flags.cert), key: fs.readFileSync(flags.key) };

listen(http2.createServer(settings), flags.port);
listen(http2.createSecureServer({ ...settings, ...identity, allowHTTP1: true }), flags["tls-port"]);
process.once("SIGTERM", () => process.exit(0));

function listen(server, port) {
  server.on("request", answer);
  if (flags.tuned) {
    server.on("session", (session) => session.setLocalWindowSize(WINDOW));
  }
  server.listen(Number(port), flags.host);
}

function answer(request, response) {
  const { method, url } = request;
  if (method === "POST" && url === "/echo") {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => reply(response, 200, "application/octet-stream", Buffer.concat(chunks)));
    return;
  }
  request.resume();
  if ((method === "GET" || method === "HEAD") && url === "/message") {
    reply(response, 200, "application/json", MESSAGE);
    return;
  }
  reply(response, 404, "text/plain", Buffer.from("not found\n"));
}

function reply(response, status, type, body) {
  response.writeHead(status, { "content-type": type, "content-length": body.length });
  response.end(body);
}
