// Asks the reference server with node:http2, says `ok NAME` for each thing that was right, and ends at
// the first that was not.
//
// Usage: node http2_client.cjs BASE [CA_FILE]

"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const http2 = require("node:http2");

const [base, authority] = process.argv.slice(2);
const AT_ONCE = 50;

const checks = {
  get: async () => assert.equal((await ask({ ":path": "/message" })).body.length, 64),
  head: async () => {
    const { fields, body } = await ask({ ":method": "HEAD", ":path": "/message" });
    assert.equal(fields["content-length"], "64");
    assert.equal(body.length, 0);
  },
  streams: async () => {
    const asked = Array.from({ length: AT_ONCE }, (_, at) => post(content(1000 + at)));
    await Promise.all(asked);
  },
  "post-large": () => post(content(1 << 20)),
  "not-found": async () => assert.equal((await ask({ ":path": "/none" })).fields[":status"], 404),
  cancelled: async () => {
    const stream = session.request({ ":path": "/bytes/1000000" });
    stream.close(http2.constants.NGHTTP2_CANCEL);
    await once(stream, "close");
    await post(content(10));
  },
  ping: () =>
    new Promise((resolve, reject) => session.ping((error) => (error ? reject(error) : resolve()))),
};

const session = http2.connect(base, { ca: authority && fs.readFileSync(authority) });
session.on("error", fail);
main().catch(fail);

async function main() {
  for (const [name, check] of Object.entries(checks)) {
    await check().catch((error) => {
      throw new Error(name, { cause: error });
    });
    console.log(`ok ${name}`);
  }
  session.close();
}

function fail(error) {
  console.error(error);
  process.exit(1);
}

async function post(body) {
  const answer = await ask({ ":method": "POST", ":path": "/echo" }, body);
  assert.equal(answer.fields[":status"], 200);
  assert.deepEqual(answer.body, body);
}

async function ask(fields, body) {
  const stream = session.request(fields, { endStream: body === undefined });
  const response = once(stream, "response");
  if (body !== undefined) {
    stream.end(body);
  }
  const pieces = [];
  stream.on("data", (piece) => pieces.push(piece));
  const ended = once(stream, "end");
  const [answer] = await response;
  await ended;
  return { fields: answer, body: Buffer.concat(pieces) };
}

// What one event brings; an error ends the wait.
function once(emitter, event) {
  return new Promise((resolve, reject) => {
    emitter.once("error", reject);
    emitter.once(event, (...values) => resolve(values));
  });
}

// Printable, and different from place to place.
function content(size) {
  return Buffer.from({ length: size }, (_, at) => 33 + ((at * 7 + Math.floor(at / 90)) % 90));
}
