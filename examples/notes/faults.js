// Faults put in on purpose, to see whether a load test finds them: FAULT=count, or several.
// Without FAULT there are none. They are no part of how an application should be written.

import { setTimeout as sleep } from "node:timers/promises";

const KINDS = {
  count: "each 1,000th list says one note more than it has",
  slow: "a search takes 400 ms",
  leak: "each 50th list is another user's",
  overload: "a new note is answered with a 500 where two others are being saved",
};

export class Faults {
  #asked;
  #seen = {};

  constructor(asked) {
    this.#asked = new Set(asked.split(",").filter(Boolean));
    for (const kind of this.#asked) {
      if (!(kind in KINDS)) throw new Error(`FAULT=${kind}: one of ${Object.keys(KINDS).join(", ")}`);
    }
  }

  // Whether this is an occasion for the fault: each so many-th is, if it was asked for.
  strikes(kind, every = 1) {
    if (!this.#asked.has(kind)) return false;
    this.#seen[kind] = (this.#seen[kind] ?? 0) + 1;
    return this.#seen[kind] % every === 0;
  }

  // Room for two at a time, where `overload` was asked for.
  bottleneck() {
    let open = 0;
    return async (_request, _response, next) => {
      if (!this.#asked.has("overload")) return next();
      if (open >= 2) throw new Error("too many notes at once");
      open += 1;
      await sleep(20);
      open -= 1;
      next();
    };
  }
}
