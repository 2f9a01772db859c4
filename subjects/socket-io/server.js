// Socket.IO: an echo of the event `message`, as an event or acknowledged, and `get` of the service
// `messages`, answered through its acknowledgement.

import { Server } from "socket.io";
import { LARGEST, open, tuned } from "./shared/node-server/ports.js";

await open((server) => {
  // Socket.IO takes its own path and leaves the others to whoever listens too.
  server.on("request", (_request, response) => response.writeHead(404).end());
  const io = new Server(server, { maxHttpBufferSize: LARGEST });
  if (tuned) {
    io.engine.on("connection", forgetRequest);
  }
  io.on("connection", serve);
});

function serve(socket) {
  // Without a listener, Socket.IO prints each bad packet of a client.
  socket.on("error", () => socket.disconnect(true));
  socket.on("message", (data, ack) => {
    if (typeof ack === "function") {
      ack(data);
    } else {
      socket.emit("message", data);
    }
  });
  socket.on("get", (service, id, ack) => {
    if (typeof ack !== "function") {
      return;
    }
    if (service === "messages") {
      ack(null, { id });
    } else {
      ack({ message: `no service ${service}` });
    }
  });
}

/** The first request of a connection is kept for middlewares, and there are none here. */
function forgetRequest(connection) {
  connection.request = null;
}
