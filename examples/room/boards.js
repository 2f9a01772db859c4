// What was drawn in each room, in memory: gone when the process ends.

const KEPT = 20;

export class Boards {
  #boards = new Map();

  // Keeps a shape, and gives its number in the room.
  add(room, shape) {
    const board = this.#boards.get(room) ?? { count: 0, shapes: [] };
    this.#boards.set(room, board);
    board.count += 1;
    board.shapes.push(shape);
    if (board.shapes.length > KEPT) board.shapes.shift();
    return board.count;
  }

  // The last ones, the oldest first.
  shapes(room) {
    return this.#boards.get(room)?.shapes ?? [];
  }

  anotherThan(room) {
    return [...this.#boards.keys()].find((name) => name !== room) ?? "nowhere";
  }
}
