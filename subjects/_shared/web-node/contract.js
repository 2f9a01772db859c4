// What the contract `web` says of rows, counts and the page; the same for every framework of Node.

import { parseArgs } from "node:util";

const ROWS = 10_000;
const STEP = 7919;
const MOST = 100;

export const GREETING = "Hello, World!";
export const HTML = "text/html; charset=utf-8";

/** The ids, or the new numbers, of a request for `count` rows from `first` on. */
export const chain = (first, count) =>
  Array.from({ length: count }, (_, place) => ((first - 1 + place * STEP) % ROWS) + 1);

/** How many rows a request with this `count` is for. */
export const clamped = (count) => Math.min(Math.max(Number.parseInt(count, 10) || 1, 1), MOST);

/** The rows that a request's query is for. */
export const ids = (query) => chain(Number(query.id), clamped(query.count));

/** The rows that it changes, each with its new number. */
export const changes = (query) => {
  const rows = ids(query);
  const numbers = chain(Number(query.number), rows.length);
  return rows.map((id, place) => ({ id, number: numbers[place] }));
};

/** The rows of the page in their order: by code points, as all of them lie below surrogates. */
export const fortunes = (found) =>
  [...found, { id: 0, message: "One more fortune, made while you wait." }].sort((a, b) =>
    a.message < b.message ? -1 : 1,
  );

/** The token of an Authorization field; empty where there is none. */
export const token = (field) => (field ?? "").replace(/^Bearer /, "");

/** What the command line says. */
export const options = () =>
  parseArgs({
    options: {
      host: { type: "string" },
      port: { type: "string" },
      tuned: { type: "boolean", default: false },
    },
  }).values;
