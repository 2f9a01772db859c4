// Events for many receivers: what is posted to /publish goes to everybody at /subscribe, who holds a stream
// of server-sent events or a WebSocket, and to who asks for it at /next (long polling). One port, and the
// same over TLS on another.

import { WebSocketServer } from "ws";
import { LARGEST, open } from "./shared/node-server/ports.js";
import { keep, poll } from "./polls.js";

/** Who subscribes: of each the function that tells it an event. */
const subscribers = new Set();

await open((server) => {
  server.on("request", answer);
  const sockets = new WebSocketServer({ noServer: true, maxPayload: LARGEST });
  server.on("upgrade", (request, connection, head) => {
    if (request.url !== "/subscribe") {
      connection.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, connection, head, (socket) => {
      // Without a listener, the first bad frame of any client ends the whole process.
      socket.on("error", () => socket.terminate());
      subscribe(socket, (text) => socket.send(text));
    });
  });
});

function subscribe(connection, tell) {
  subscribers.add(tell);
  connection.on("close", () => subscribers.delete(tell));
}

function answer(request, response) {
  const asked = `${request.method} ${request.url}`;
  if (asked === "POST /publish") {
    publish(request, response);
    return;
  }
  request.resume();
  if (request.method === "GET" && /^\/next(\?|$)/.test(request.url)) {
    poll(request, response);
    return;
  }
  if (asked === "GET /subscribe") {
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    response.flushHeaders();
    subscribe(response, (text) => response.write(`data: ${text}\n\n`));
    return;
  }
  reply(response, 404, "not found\n");
}

function publish(request, response) {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const text = Buffer.concat(chunks).toString();
    keep(text);
    for (const tell of subscribers) {
      tell(text);
    }
    reply(response, 200, "OK");
  });
}

function reply(response, status, text) {
  response.writeHead(status, { "Content-Type": "text/plain", "Content-Length": text.length });
  response.end(text);
}
