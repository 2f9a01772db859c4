// Rooms, who is in them and what was said there, in memory: gone when the process ends.

const KEPT = 20;

export class Rooms {
  #rooms = new Map();

  // Whoever asks for a room that is not there opens it.
  named(name) {
    if (!this.#rooms.has(name)) this.#rooms.set(name, new Room(name, this));
    return this.#rooms.get(name);
  }

  anotherThan(room) {
    for (const other of this.#rooms.values()) if (other !== room) return other;
    return new Room("nowhere", this);
  }
}

class Room {
  #said = [];
  #count = 0;
  #sockets = new Set();

  constructor(name, all) {
    this.name = name;
    this.all = all;
  }

  enter(socket) {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
  }

  // The last ones, the newest first.
  history() {
    return [...this.#said].reverse();
  }

  // Keeps a message, tells the others in the room, and gives its number here.
  say(socket, user, text) {
    this.#count += 1;
    const message = { type: "said", room: this.name, number: this.#count, user, text };
    this.#said.push(message);
    if (this.#said.length > KEPT) this.#said.shift();
    const pushed = JSON.stringify(message);
    for (const other of this.#sockets) if (other !== socket) other.send(pushed);
    return this.#count;
  }
}
