// Chat: rooms over WebSocket. Users are greeted; what they say is acknowledged, and pushed to the others of their room.
// PORT (8003) and HOST say where it listens; FAULT puts faults in (faults.js).

import { WebSocketServer } from "ws";

import { Faults } from "./faults.js";
import { Rooms } from "./rooms.js";
import { visit } from "./visit.js";

const faults = new Faults(process.env.FAULT ?? "");
const rooms = new Rooms();
const server = new WebSocketServer({
  port: Number(process.env.PORT ?? 8003),
  host: process.env.HOST ?? "127.0.0.1",
  path: "/chat",
  maxPayload: 64 * 1024,
});

server.on("connection", (socket, request) => {
  const asked = new URL(request.url, "ws://chat").searchParams;
  const [user, room] = [asked.get("user"), asked.get("room")];
  if (!user || !room) return socket.close(1008, "say who you are, and which room it is");
  visit(socket, user, rooms.named(room), faults);
});

server.on("listening", () => {
  const { address, port } = server.address();
  console.log(`chat: ws://${address}:${port}`);
});
