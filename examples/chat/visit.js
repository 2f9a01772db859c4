// One user's connection: a greeting with a token, and an answer to each message that carries it.

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

export function visit(socket, user, room, faults) {
  const token = randomBytes(9).toString("base64url");
  const tell = (message) => socket.send(JSON.stringify(message));

  const answers = {
    async say({ id, text }) {
      await faults.bottleneck();
      const number = room.say(socket, user, String(text ?? ""));
      tell({ type: "ack", id: faults.strikes("ack", 1000) ? id + 1 : id, number });
    },

    async history({ id }) {
      if (faults.strikes("slow")) await sleep(300);
      const shown = faults.strikes("leak", 50) ? room.all.anotherThan(room) : room;
      tell({ type: "history", id, room: shown.name, messages: shown.history() });
    },
  };

  socket.on("message", async (data, isBinary) => {
    try {
      const message = isBinary ? {} : JSON.parse(data);
      if (!Object.hasOwn(answers, message?.type)) return tell({ type: "refused", why: "there is no such type" });
      if (message.token !== token) return tell({ type: "refused", why: "that is not your token" });
      await answers[message.type](message);
    } catch (error) {
      if (error instanceof SyntaxError) return socket.close(1007, "that is no JSON");
      socket.close(1011, error.message);
    }
  });
  socket.on("error", () => socket.terminate());

  room.enter(socket);
  tell({ type: "hello", user, room: room.name, token });
}
