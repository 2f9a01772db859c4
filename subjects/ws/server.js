// ws and node:http on one port, and both over TLS on another: a WebSocket echo at /, a broadcast at
// /broadcast, and the routes of the HTTP contracts.

import WebSocket, { WebSocketServer } from "ws";
import { LARGEST, delayMs, open } from "./shared/node-server/ports.js";

const TEXT = "text/plain";
const JSON_TYPE = "application/json";
const MESSAGE = Buffer.from(
  JSON.stringify({ seq: "0000000000000000", text: "one message of 64 bytes....." }),
);
const LABELS = "/test/labels/";
const MESSAGES = "/messages/";
/** Who hears a broadcast. */
const room = new Set();

await open((server) => {
  server.on("request", answer);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: LARGEST,
    // Off by default, as ws itself has it.
    perMessageDeflate: process.env.DEFLATE === "1",
  });
  // Two paths on one server, as the documentation of ws has it.
  server.on("upgrade", (request, connection, head) => {
    const talk = { "/": echo, "/broadcast": broadcast }[request.url.split("?")[0]];
    if (talk === undefined) {
      connection.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, connection, head, (socket) => {
      // Without a listener, the first bad frame of any client ends the whole process.
      socket.on("error", () => socket.terminate());
      talk(socket);
    });
  });
});

function echo(socket) {
  socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
}

function broadcast(socket) {
  room.add(socket);
  socket.on("close", () => room.delete(socket));
  socket.on("message", (data, isBinary) => {
    for (const each of room) {
      if (each.readyState === WebSocket.OPEN) {
        each.send(data, { binary: isBinary });
      }
    }
  });
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
