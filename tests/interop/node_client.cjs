// Asks the reference server with Node's fetch, node:http and the package ws, says `ok NAME` for each
// thing that was right, and ends at the first that was not.
//
// Usage: node node_client.cjs HTTP_BASE WS_BASE EXTENSION; NODE_PATH names the folder of ws, and
// NODE_EXTRA_CA_CERTS the authority. Compression is always offered; EXTENSION is what the server must
// agree to, empty for nothing.

"use strict";

const assert = require("node:assert/strict");
const http = require("node:http");
const https = require("node:https");
const WebSocket = require("ws");

const LARGE = 1 << 20;
const [base, wsBase, extension] = process.argv.slice(2);
const web = base.startsWith("https:") ? https : http;

const checks = {
  get: async () => {
    const { response, body } = await ask("/message");
    assert.equal(response.headers.get("content-length"), "64");
    assert.equal(body.length, 64);
  },
  head: async () => {
    const { response, body } = await ask("/message", { method: "HEAD" });
    assert.equal(response.headers.get("content-length"), "64");
    assert.equal(body.length, 0);
  },
  "keep-alive": keepAlive,
  post: () => post(content(1000), 1000),
  "post-large": () => post(content(LARGE), LARGE),
  // The length of a stream is not known, so that it goes out in chunks.
  "chunked-request": () => post(new Blob([content(100_000)]).stream(), 100_000),
  "chunked-reply": async () => {
    const { response, body } = await ask("/chunked/100000");
    assert.equal(response.headers.get("transfer-encoding"), "chunked");
    assert.equal(body.length, 100_000);
  },
  "not-found": async () => assert.equal((await fetch(base + "/no/such/page")).status, 404),
  text: () => echo(Buffer.from("Grüße, 世界"), false),
  binary: () => echo(content(1000), true),
  empty: () => echo(Buffer.alloc(0), true),
  large: () => echo(content(LARGE), true),
  fragments: () =>
    converse(async (socket) => {
      const payload = content(50_000);
      const answer = once(socket, "message");
      for (let at = 0; at < payload.length; at += 10_000) {
        const fin = at + 10_000 === payload.length;
        socket.send(payload.subarray(at, at + 10_000), { fin, binary: false });
      }
      assert.deepEqual(await answer, [payload, false]);
    }),
  ping: () =>
    converse(async (socket) => {
      const pong = once(socket, "pong");
      socket.ping("alive?");
      assert.equal((await pong)[0].toString(), "alive?");
    }),
  "close-1000": () => closeWith(1000),
  "close-4000": () => closeWith(4000),
};

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);

async function main() {
  for (const [name, check] of Object.entries(checks)) {
    await check().catch((error) => {
      throw new Error(name, { cause: error });
    });
    console.log(`ok ${name}`);
  }
}

async function ask(path, options) {
  const response = await fetch(base + path, options);
  assert.equal(response.status, 200);
  return { response, body: Buffer.from(await response.arrayBuffer()) };
}

async function post(body, length) {
  const { body: echoed } = await ask("/echo", { method: "POST", body, duplex: "half" });
  assert.deepEqual(echoed, content(length));
}

async function keepAlive() {
  const agent = new web.Agent({ keepAlive: true, maxSockets: 1 });
  const ports = new Set();
  for (let turn = 0; turn < 10; turn += 1) {
    ports.add(await localPort(agent));
  }
  agent.destroy();
  assert.equal(ports.size, 1);
}

function localPort(agent) {
  return new Promise((resolve, reject) => {
    const request = web.get(base + "/message", { agent }, (response) => {
      const port = response.socket.localPort;
      response.resume();
      response.on("end", () => resolve(port));
    });
    request.on("error", reject);
  });
}

function echo(payload, binary) {
  return converse(async (socket) => {
    for (let turn = 0; turn < 3; turn += 1) {
      const answer = once(socket, "message");
      socket.send(payload, { binary });
      assert.deepEqual(await answer, [payload, binary]);
    }
  });
}

function closeWith(code) {
  return converse(async (socket) => {
    const closed = once(socket, "close");
    socket.close(code, "enough");
    assert.equal((await closed)[0], code);
  });
}

async function converse(talk) {
  const socket = new WebSocket(wsBase + "/", { perMessageDeflate: { threshold: 0 } });
  await once(socket, "open");
  assert.equal(socket.extensions, extension);
  await talk(socket);
  socket.close();
}

// What one event brings; an error ends the wait.
function once(socket, event) {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once(event, (...values) => resolve(values));
  });
}

// Printable, and different from place to place.
function content(size) {
  return Buffer.from({ length: size }, (_, at) => 33 + ((at * 7 + Math.floor(at / 90)) % 90));
}
