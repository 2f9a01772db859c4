// Bun's own server with a WebSocket echo at /, on one port plain and on another inside TLS. Bun runs
// JavaScript on one thread, so more threads are more processes, which share both ports.

import { parseArgs } from "node:util";

const LARGEST = 128 * 1024 * 1024;
const COMPILED = Bun.main.startsWith("/$bunfs/");

const text = { type: "string" } as const;
const { values: flags } = parseArgs({
  options: {
    host: { ...text, default: "127.0.0.1" },
    port: { ...text, default: "8080" },
    "tls-port": text,
    cert: text,
    key: text,
    threads: { ...text, default: "1" },
  },
});
const processes = Number(flags.threads);

// Only who was started by another process of Bun can send to it.
const first = process.send === undefined;
if (first) {
  await startOthers(processes - 1);
} else {
  process.on("disconnect", () => process.exit());
}
listen(flags.port);
if (flags["tls-port"]) {
  listen(flags["tls-port"], { cert: Bun.file(flags.cert!), key: Bun.file(flags.key!) });
}
process.send?.("listening");

function listen(port: string, tls?: Bun.TLSOptions) {
  Bun.serve({
    hostname: flags.host,
    port,
    tls,
    reusePort: processes > 1,
    routes: {
      "/": (request, server) =>
        server.upgrade(request) ? undefined : new Response("WebSocket only\n", { status: 426 }),
    },
    websocket: {
      maxPayloadLength: LARGEST,
      // 0 is without limit: past one, send() would drop the message.
      backpressureLimit: 0,
      message(socket, message) {
        socket.send(message);
      },
    },
  });
}

/** Resolves when they all listen: who finds a port open then finds all of us behind it. */
async function startOthers(count: number) {
  const command = [process.execPath, ...(COMPILED ? [] : [Bun.main]), ...process.argv.slice(2)];
  const others = Array.from({ length: count }, () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    Bun.spawn(command, {
      stdio: ["ignore", "inherit", "inherit"],
      ipc: () => resolve(),
      // A server that lost one of its threads would measure something else.
      onExit: () => process.exit(1),
    });
    return promise;
  });
  await Promise.all(others);
}
