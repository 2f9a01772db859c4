// Room: a drawing board for each room, over Socket.IO. What a user draws is shown to all in the room, and acknowledged.
// PORT (8004) and HOST say where it listens; FAULT puts faults in (faults.js).

import { createServer } from "node:http";

import { Server } from "socket.io";

import { Boards } from "./boards.js";
import { Faults } from "./faults.js";
import { serve } from "./serve.js";

const faults = new Faults(process.env.FAULT ?? "");
const boards = new Boards();
const server = createServer((_request, response) => response.writeHead(404).end());
const io = new Server(server, { transports: ["websocket"], maxHttpBufferSize: 64 * 1024 });

io.use((socket, next) => next(socket.handshake.query.user ? undefined : new Error("say who you are")));
io.on("connection", (socket) => serve(io, socket, boards, faults));

server.listen(Number(process.env.PORT ?? 8004), process.env.HOST ?? "127.0.0.1", () => {
  const { address, port } = server.address();
  console.log(`room: socketio+ws://${address}:${port}`);
});
