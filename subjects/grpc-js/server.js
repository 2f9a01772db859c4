// wiretrial.Echo with @grpc/grpc-js on one port, and over TLS on another.

import fs from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

const SERVICE = fileURLToPath(new URL("shared/grpc-echo/echo.proto", import.meta.url));
/** How often `Server` says its message. */
const REPEATED = 10;
const TUNED = { "grpc.max_concurrent_streams": 1000, "grpc.enable_channelz": 0 };

const text = { type: "string" };
const flags = parseArgs({
  options: {
    host: { type: "string", default: "127.0.0.1" },
    port: text,
    "tls-port": text,
    cert: text,
    key: text,
    tuned: { type: "boolean", default: false },
  },
}).values;

const methods = {
  unary: (call, answer) => answer(null, call.request),

  server(call) {
    for (let said = 0; said < REPEATED; said += 1) {
      call.write(call.request);
    }
    call.end();
  },

  client(call, answer) {
    let last = {};
    call.on("data", (message) => (last = message));
    call.on("end", () => answer(null, last));
  },

  bidi(call) {
    call.on("data", (message) => call.write(message));
    call.on("end", () => call.end());
  },
};

const { wiretrial } = grpc.loadPackageDefinition(loader.loadSync(SERVICE));
const server = new grpc.Server(flags.tuned ? TUNED : {});
server.addService(wiretrial.Echo.service, methods);
listen(flags.port, grpc.ServerCredentials.createInsecure());
const identity = { private_key: fs.readFileSync(flags.key), cert_chain: fs.readFileSync(flags.cert) };
listen(flags["tls-port"], grpc.ServerCredentials.createSsl(null, [identity]));
process.once("SIGTERM", () => process.exit(0));

function listen(port, credentials) {
  server.bindAsync(`${flags.host}:${port}`, credentials, (error) => {
    if (error) {
      console.error(`server: ${error.message}`);
      process.exit(1);
    }
  });
}
