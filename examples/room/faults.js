// Faults put in on purpose, to see whether a load test finds them: FAULT=ack, or several.
// Without FAULT there are none. They are no part of how an application should be written.

import { setTimeout as sleep } from "node:timers/promises";

const KINDS = {
  ack: "each 1,000th acknowledgement is of another shape",
  slow: "a board takes 300 ms",
  leak: "each 50th shape is shown as of another room",
  overload: "the connection is closed where two others are drawing",
};

export class Faults {
  #asked;
  #seen = {};
  #open = 0;

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
  async bottleneck() {
    if (!this.#asked.has("overload")) return;
    if (this.#open >= 2) throw new Error("too many at once");
    this.#open += 1;
    await sleep(20);
    this.#open -= 1;
  }
}
