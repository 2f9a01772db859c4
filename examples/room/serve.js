// One user's connection: a greeting with a key, a room, and what is drawn there.

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

export function serve(io, socket, boards, faults) {
  const { user } = socket.handshake.query;
  const key = randomBytes(9).toString("base64url");
  let room;

  // Calls what answers an event; whoever asks for no answer, or says what makes no sense, is sent away.
  const on = (name, answer) => socket.on(name, async (asked, acknowledge) => {
    try {
      acknowledge(await answer(asked));
    } catch {
      socket.disconnect(true);
    }
  });

  on("join", async (asked) => {
    if (asked.key !== key) throw new Error("that is not the key");
    room = String(asked.room);
    await socket.join(room);
    socket.to(room).emit("joined", { room, user });
    return { room };
  });

  on("board", async () => {
    if (faults.strikes("slow")) await sleep(300);
    return { room, shapes: boards.shapes(room) };
  });

  on("draw", async ({ id, x, y }) => {
    await faults.bottleneck();
    const number = boards.add(room, { user, x, y });
    const shown = faults.strikes("leak", 50) ? boards.anotherThan(room) : room;
    io.to(room).emit("drawn", { room: shown, user, id, x, y });
    return { id: faults.strikes("ack", 1000) ? id + 1 : id, number };
  });

  socket.emit("welcome", { user, key });
}
