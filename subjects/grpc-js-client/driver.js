// A client driver around @grpc/grpc-js: unary calls on a channel.
//
// Knows grpc-js; must not know how it is measured.

import fs from "node:fs";
import { fileURLToPath } from "node:url";

import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

import { drive } from "./shared/driver-node/driver.js";

const manifest = new URL("node_modules/@grpc/grpc-js/package.json", import.meta.url);
const { version } = JSON.parse(fs.readFileSync(manifest, "utf8"));
const SERVICE = fileURLToPath(new URL("shared/grpc-echo/echo.proto", import.meta.url));
const { wiretrial } = grpc.loadPackageDefinition(loader.loadSync(SERVICE, { defaults: true }));
/** Else a channel takes the connection of one that was closed. */
const OWN = { "grpc.use_local_subchannel_pool": 1 };

class EchoClient {
  constructor({ url, authority, onConnection }) {
    const { createInsecure, createSsl } = grpc.credentials;
    const trust = authority ? createSsl(authority) : createInsecure();
    this.echo = new wiretrial.Echo(url.host, trust, OWN);
    this.call = null;
    this.isClosed = false;
    /** Why it was ended at once. */
    this.reason = null;
    this.count(onConnection);
  }

  /** The connection is opened by the first call. */
  async ready() {}

  exchange(message) {
    return new Promise((resolve, reject) => {
      const done = (error, reply) => (error ? reject(this.reason ?? error) : resolve(reply.content));
      this.call = this.echo.unary({ content: message }, done);
    });
  }

  async close() {
    this.isClosed = true;
    this.echo.close();
  }

  destroy(error) {
    this.reason ??= error;
    this.call?.cancel();
    this.isClosed = true;
    this.echo.close();
  }

  /** A channel has one connection at a time, and tells of its states. */
  count(onConnection) {
    const channel = this.echo.getChannel();
    const watch = () => {
      if (this.isClosed) {
        return;
      }
      const state = channel.getConnectivityState(false);
      if (state === grpc.connectivityState.READY) {
        onConnection();
      }
      channel.watchConnectivityState(state, Infinity, (error) => error || watch());
    };
    watch();
  }
}

await drive({
  name: "grpc-js-client",
  library: `grpc-js ${version} on Node ${process.versions.node}`,
  schemes: ["grpc", "grpcs"],
  makeClient: (settings) => new EchoClient(settings),
});
