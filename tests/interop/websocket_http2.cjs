// WebSockets on streams of HTTP/2 (RFC 8441): node:http2, and the package ws on its streams.
//
// Usage: node websocket_http2.cjs serve CERT KEY; it says `ready http=IP:PORT https=IP:PORT`.
//        node websocket_http2.cjs ask BASE [CA_FILE]; it says `ok NAME` for each thing that was right,
//        and ends at the first that was not.
// NODE_PATH names the folder of ws.

"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const http2 = require("node:http2");
const { WebSocket } = require("ws");

// Without a time it gives up a close at once.
const OWN = { autoPong: true, closeTimeout: 30_000 };
const OPTIONS = { allowSynchronousEvents: true, maxPayload: 64 << 20, skipUTF8Validation: false };
const AT_ONCE = 20;

const [role, ...words] = process.argv.slice(2);
if (role === "serve") {
  serve(...words);
} else {
  ask(...words).catch((error) => {
    console.error(error);
    process.exit(1);
  });
}

async function serve(certificate, secret) {
  const [cert, key] = [certificate, secret].map((name) => fs.readFileSync(name));
  const settings = { enableConnectProtocol: true };
  const servers = [http2.createServer({ settings }), http2.createSecureServer({ settings, cert, key })];
  const [plain, secure] = await Promise.all(servers.map(listen));
  console.log(`ready http=127.0.0.1:${plain} https=127.0.0.1:${secure}`);
}

function listen(server) {
  server.on("session", (session) => session.on("error", () => {}));
  server.on("stream", (stream, fields) => {
    stream.on("error", () => {});
    if (fields[":method"] !== "CONNECT" || fields[":protocol"] !== "websocket") {
      stream.respond({ ":status": 404 }, { endStream: true });
      return;
    }
    stream.respond({ ":status": 200 });
    // Without an address it is a server's.
    const socket = stand(new WebSocket(null, undefined, OWN), stream);
    socket.on("error", () => socket.terminate());
    socket.on("message", (data, binary) => socket.send(data, { binary }));
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(server.address().port));
  });
}

function stand(socket, stream) {
  socket.setSocket(stream, Buffer.alloc(0), OPTIONS);
  return socket;
}

async function ask(base, authority) {
  const session = http2.connect(base, { ca: authority && fs.readFileSync(authority) });
  const settings = await once(session, "remoteSettings");
  assert.equal(settings.enableConnectProtocol, true);
  console.log("ok enabled");
  const sockets = await Promise.all(Array.from({ length: AT_ONCE }, () => open(session)));
  await Promise.all(sockets.map((socket, at) => echo(socket, `text ${at} grüß`)));
  console.log("ok text");
  await Promise.all(sockets.map((socket, at) => echo(socket, Buffer.alloc(1000 + at, at))));
  await echo(sockets[0], Buffer.alloc(0));
  console.log("ok binary");
  await echo(sockets[1], Buffer.alloc(1 << 20, "large"));
  console.log("ok large");
  const pong = once(sockets[2], "pong");
  sockets[2].ping("are you there?");
  assert.equal((await pong).toString(), "are you there?");
  console.log("ok ping");
  const closed = once(sockets[3], "close");
  sockets[3].close(4000, "enough");
  assert.equal(await closed, 4000);
  console.log("ok close-4000");
  // The others go on.
  await echo(sockets[4], "still there");
  console.log("ok others");
  session.destroy();
}

async function open(session) {
  const fields = { ":method": "CONNECT", ":protocol": "websocket", ":path": "/chat" };
  const stream = session.request({ ...fields, "sec-websocket-version": "13" });
  const answer = await once(stream, "response");
  assert.equal(answer[":status"], 200);
  const socket = new WebSocket(null, undefined, OWN);
  // What it sends is masked, as a client's has to be.
  socket._isServer = false;
  return stand(socket, stream);
}

async function echo(socket, sent) {
  const answer = new Promise((resolve, reject) => {
    socket.once("message", (data, binary) => resolve({ data, binary }));
    socket.once("error", reject);
  });
  socket.send(sent);
  const { data, binary } = await answer;
  assert.equal(binary, typeof sent !== "string");
  assert.ok(Buffer.from(sent).equals(data));
}

// What one event brings; an error ends the wait.
function once(emitter, event) {
  return new Promise((resolve, reject) => {
    emitter.once("error", reject);
    emitter.once(event, resolve);
  });
}
