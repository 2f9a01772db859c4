// Socket.IO: what is posted to /publish goes, as the event `published`, to everybody who has emitted
// `subscribe`. One port, and the same over TLS on another.

import { Server } from "socket.io";
import { open, tuned } from "./shared/node-server/ports.js";

const ROOM = "subscribers";

/** One for each port. */
const servers = [];

await open((server) => {
  // Socket.IO takes its own path and leaves the others to whoever listens too.
  server.on("request", answer);
  const io = new Server(server);
  if (tuned) {
    io.engine.on("connection", forgetRequest);
  }
  io.on("connection", serve);
  servers.push(io);
});

function serve(socket) {
  // Without a listener, Socket.IO prints each bad packet of a client.
  socket.on("error", () => socket.disconnect(true));
  socket.on("subscribe", () => socket.join(ROOM));
}

function answer(request, response) {
  if (`${request.method} ${request.url}` === "POST /publish") {
    publish(request, response);
    return;
  }
  request.resume();
  reply(response, 404, "not found\n");
}

function publish(request, response) {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const text = Buffer.concat(chunks).toString();
    for (const io of servers) {
      io.to(ROOM).emit("published", text);
    }
    reply(response, 200, "OK");
  });
}

function reply(response, status, text) {
  response.writeHead(status, { "Content-Type": "text/plain", "Content-Length": text.length });
  response.end(text);
}

/** The first request of a connection is kept for middlewares, and there are none here. */
function forgetRequest(connection) {
  connection.request = null;
}
