// Runs in a page of the reference server: asks it with fetch and WebSocket, and gives the names of
// all that was right, or ends at the first thing that was not. Compression is always offered;
// `extension` is what the server must agree to, empty for nothing.

async (wsBase, extension) => {
  const LARGE = 1 << 20;

  const checks = {
    get: async () => {
      const { response, body } = await ask("/message");
      is(response.headers.get("content-length"), "64");
      is(body.length, 64);
    },
    head: async () => is((await ask("/message", { method: "HEAD" })).body.length, 0),
    "keep-alive": async () => {
      for (let turn = 0; turn < 10; turn += 1) {
        await ask(`/bytes/100?${turn}`);
      }
      // The browser tells of a connection that was set up by the time that took.
      const entries = performance.getEntriesByType("resource");
      const kept = entries.filter(({ connectStart, connectEnd }) => connectStart === connectEnd);
      is(kept.length >= 9, true);
    },
    post: () => post(content(1000)),
    "post-large": () => post(content(LARGE)),
    "chunked-reply": async () => is((await ask("/chunked/100000")).body.length, 100_000),
    "not-found": async () => is((await fetch("/no/such/page")).status, 404),
    text: () => echo("Grüße, 世界"),
    binary: () => echo(content(1000)),
    empty: () => echo(new Uint8Array(0)),
    large: () => echo(content(LARGE)),
    "close-1000": () => closeWith(1000),
    "close-4000": () => closeWith(4000),
  };

  const good = [];
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
    } catch (error) {
      throw new Error(`${name}: ${error.message ?? error.type ?? error}`);
    }
    good.push(name);
  }
  return good;

  async function ask(path, options) {
    const response = await fetch(path, options);
    is(response.status, 200);
    return { response, body: new Uint8Array(await response.arrayBuffer()) };
  }

  async function post(sent) {
    const { body } = await ask("/echo", { method: "POST", body: sent });
    same(body, sent);
  }

  async function echo(sent) {
    const socket = await open();
    for (let turn = 0; turn < 3; turn += 1) {
      const answer = once(socket, "message");
      socket.send(sent);
      const { data } = await answer;
      typeof sent === "string" ? is(data, sent) : same(new Uint8Array(data), sent);
    }
    socket.close();
  }

  async function closeWith(code) {
    const socket = await open();
    const closed = once(socket, "close");
    socket.close(code, "enough");
    const event = await closed;
    is(event.code, code);
    is(event.wasClean, true);
  }

  async function open() {
    const socket = new WebSocket(wsBase + "/");
    socket.binaryType = "arraybuffer";
    await once(socket, "open");
    is(socket.extensions, extension);
    return socket;
  }

  function once(socket, event) {
    return new Promise((resolve, reject) => {
      socket.addEventListener("error", reject, { once: true });
      socket.addEventListener(event, resolve, { once: true });
    });
  }

  function is(got, wanted) {
    if (got !== wanted) {
      throw new Error(`${got} is not ${wanted}`);
    }
  }

  function same(got, wanted) {
    is(got.length, wanted.length);
    is(got.every((byte, at) => byte === wanted[at]), true);
  }

  // Printable, and different from place to place.
  function content(size) {
    return Uint8Array.from({ length: size }, (_, at) => 33 + ((at * 7 + Math.floor(at / 90)) % 90));
  }
}
