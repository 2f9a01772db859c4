// The command line and the two ports of a Node server: one plain, one inside TLS.
//
// Knows flags, certificates and signals; must not know what is served.

import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import { parseArgs } from "node:util";

const text = { type: "string" };
const flags = parseArgs({
  options: {
    host: { type: "string", default: "127.0.0.1" },
    port: text,
    "tls-port": text,
    cert: text,
    key: text,
    "delay-ms": { type: "string", default: "0" },
    tuned: { type: "boolean", default: false },
  },
}).values;

/** Milliseconds that an answer waits where the contract has it wait. */
export const delayMs = Number(flags["delay-ms"]);

/** Whether the library's documented options for production are wanted. */
export const tuned = flags.tuned;

/** The largest message that is taken, in bytes: 128 MiB. */
export const LARGEST = 128 * 1024 * 1024;

/** Lets `serve` make of each port's server what it likes, then listens. */
export async function open(serve) {
  await listen(http.createServer(), flags.port, serve);
  if (flags["tls-port"]) {
    const identity = { cert: fs.readFileSync(flags.cert), key: fs.readFileSync(flags.key) };
    await listen(https.createServer(identity), flags["tls-port"], serve);
  }
  process.once("SIGTERM", () => process.exit(0));
}

async function listen(server, port, serve) {
  await serve(server);
  server.listen(Number(port), flags.host);
}
