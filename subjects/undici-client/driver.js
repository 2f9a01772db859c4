// A client driver around undici: request() through its pool of connections (an Agent), or tuned,
// through a Client, which is one connection.
//
// Knows undici; must not know how it is measured.

import fs from "node:fs";
import { Agent, Client, request } from "undici";
import { drive } from "./shared/driver-node/driver.js";

const manifest = new URL("node_modules/undici/package.json", import.meta.url);
const { version } = JSON.parse(fs.readFileSync(manifest, "utf8"));

class HttpClient {
  constructor({ url, authority, tuned, onConnection }) {
    const connect = { ca: authority };
    this.url = url;
    // Unlimited, the pool opens a second connection: the first is not free as soon as its reply is
    // read.
    this.dispatcher = tuned
      ? new Client(url.origin, { connect })
      : new Agent({ connections: 1, connect });
    this.dispatcher.on("connect", onConnection);
  }

  /** The connection is opened by the first request: undici has no call that only connects. */
  async ready() {}

  async exchange(message) {
    const { dispatcher } = this;
    const options = message.length > 0 ? { method: "POST", body: message } : {};
    const { statusCode, body } = await request(this.url, { dispatcher, ...options });
    const content = await body.bytes();
    if (statusCode !== 200) {
      throw new Error(`status ${statusCode} instead of 200`);
    }
    return content;
  }

  close() {
    return this.dispatcher.close();
  }

  destroy(error) {
    this.dispatcher.destroy(error);
  }
}

await drive({
  name: "undici-client",
  library: `undici ${version} on Node ${process.versions.node}`,
  schemes: ["http", "https"],
  makeClient: (settings) => new HttpClient(settings),
});
