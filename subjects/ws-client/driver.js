// A client driver around ws: one WebSocket, one message in flight.
//
// Knows ws; must not know how it is measured.

import fs from "node:fs";
import WebSocket from "ws";
import { drive } from "./shared/driver-node/driver.js";

const manifest = new URL("node_modules/ws/package.json", import.meta.url);
const { version } = JSON.parse(fs.readFileSync(manifest, "utf8"));

class SocketClient {
  constructor({ url, authority, tuned, onConnection }) {
    const options = tuned ? { perMessageDeflate: false } : {};
    this.socket = new WebSocket(url, { ...options, ca: authority });
    this.pending = null;
    this.ended = null;
    this.socket.on("open", () => {
      onConnection();
      this.settle("resolve");
    });
    this.socket.on("message", (content, isBinary) => {
      if (isBinary) {
        this.settle("resolve", content);
      } else {
        this.end(new Error("wrong reply: a text message instead of a binary one"));
      }
    });
    this.socket.on("error", (error) => this.end(error));
    this.socket.on("close", (code) => this.end(new Error(`the server closed, code ${code}`)));
  }

  ready() {
    return this.wait();
  }

  exchange(message) {
    const reply = this.wait();
    this.socket.send(message);
    return reply;
  }

  close() {
    return new Promise((resolve) => {
      this.socket.once("close", resolve);
      this.socket.close(1000);
    });
  }

  destroy(error) {
    this.end(error);
    this.socket.terminate();
  }

  wait() {
    if (this.ended) {
      return Promise.reject(this.ended);
    }
    return new Promise((resolve, reject) => {
      this.pending = { resolve, reject };
    });
  }

  settle(how, value) {
    const pending = this.pending;
    this.pending = null;
    pending?.[how](value);
  }

  /** Whatever is awaited, now or later, fails with the first reason. */
  end(error) {
    this.ended ??= error;
    this.settle("reject", this.ended);
  }
}

await drive({
  name: "ws-client",
  library: `ws ${version} on Node ${process.versions.node}`,
  schemes: ["ws", "wss"],
  makeClient: (settings) => new SocketClient(settings),
});
