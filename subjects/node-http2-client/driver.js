// A client driver around node:http2: one session, and a stream for each request.
//
// Knows node:http2; must not know how it is measured.

import { once } from "node:events";
import http2 from "node:http2";
import { drive } from "./shared/driver-node/driver.js";

/** What a stream and the connection take before it was read, in bytes. */
const WINDOW = 1024 * 1024;

class HttpClient {
  constructor({ url, authority, tuned, onConnection }) {
    const settings = tuned ? { settings: { initialWindowSize: WINDOW } } : {};
    this.path = url.pathname + url.search;
    this.session = http2.connect(url.origin, { ca: authority, ...settings });
    // What ends the session ends its streams, too, and is told by them.
    this.session.on("error", () => {});
    this.session.once("connect", () => {
      if (tuned) {
        this.session.setLocalWindowSize(WINDOW);
      }
      onConnection();
    });
  }

  async ready() {
    await once(this.session, "connect");
  }

  async exchange(message) {
    const fields = { ":path": this.path };
    if (message.length > 0) {
      fields[":method"] = "POST";
      fields["content-length"] = message.length;
    }
    const stream = this.session.request(fields, { endStream: message.length === 0 });
    if (message.length > 0) {
      stream.end(message);
    }
    let status;
    stream.on("response", (head) => {
      status = head[":status"];
    });
    // A stream whose reply was read is ended by what ends its session; that is told there.
    stream.on("error", () => {});
    const pieces = [];
    for await (const piece of stream) {
      pieces.push(piece);
    }
    if (status === undefined) {
      throw new Error("the stream ended without a reply");
    }
    if (status !== 200) {
      throw new Error(`status ${status} instead of 200`);
    }
    return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
  }

  close() {
    return new Promise((resolve) => this.session.close(resolve));
  }

  destroy(error) {
    this.session.destroy(error);
  }
}

await drive({
  name: "node-http2-client",
  library: `node:http2 of Node ${process.versions.node}`,
  schemes: ["http", "https"],
  makeClient: (options) => new HttpClient(options),
});
