// ws and node:http on one port, and both over TLS on another: a WebSocket echo at /, and the routes
// of the HTTP contracts.

import { WebSocketServer } from "ws";
import { LARGEST, delayMs, open } from "./shared/node-server/ports.js";

const TEXT = "text/plain";
const JSON_TYPE = "application/json";
const MESSAGE = Buffer.from(
  JSON.stringify({ seq: "0000000000000000", text: "one message of 64 bytes....." }),
);
const LABELS = "/test/labels/";
const MESSAGES = "/messages/";

await open((server) => {
  server.on("request", answer);
  const sockets = new WebSocketServer({
    server,
    path: "/",
    maxPayload: LARGEST,
    // Off by default, as ws itself has it.
    perMessageDeflate: process.env.DEFLATE === "1",
  });
  sockets.on("connection", echo);
});

function echo(socket) {
  // Without a listener, the first bad frame of any client ends the whole process.
  socket.on("error", () => socket.terminate());
  socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
}

function answer(request, response) {
  const { method, url } = request;
  if (method === "POST" && url === "/echo") {
    withBody(request, (body) => reply(response, 200, "application/octet-stream", body));
    return;
  }
  if (method === "POST" && url === "/test") {
    withBody(request, (body) => late(() => reply(response, 200, TEXT, `received: ${body}`)));
    return;
  }
  request.resume();
  if (method === "GET" || method === "HEAD") {
    answerGet(url, response);
    return;
  }
  reply(response, 404, TEXT, "not found\n");
}

function answerGet(url, response) {
  if (url === "/message") {
    reply(response, 200, JSON_TYPE, MESSAGE);
    return;
  }
  if (url === "/test/status") {
    reply(response, 200, TEXT, "OK");
    return;
  }
  const id = behind(MESSAGES, url);
  if (id !== undefined) {
    reply(response, 200, JSON_TYPE, JSON.stringify({ id }));
    return;
  }
  const label = behind(LABELS, url);
  if (label !== undefined) {
    reply(response, 200, TEXT, label);
    return;
  }
  reply(response, 404, TEXT, "not found\n");
}

/** What a path holds behind a prefix; undefined where that is nothing, or can't be decoded. */
function behind(prefix, path) {
  if (!path.startsWith(prefix) || path.length === prefix.length) {
    return undefined;
  }
  try {
    return decodeURIComponent(path.slice(prefix.length));
  } catch {
    return undefined;
  }
}

function withBody(request, use) {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => use(Buffer.concat(chunks)));
}

/** A timer's shortest wait is a millisecond, so where none is asked for there is no timer. */
function late(use) {
  if (delayMs > 0) {
    setTimeout(use, delayMs);
  } else {
    use();
  }
}

function reply(response, status, type, body) {
  response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}
