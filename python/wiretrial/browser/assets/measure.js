// One measurement: so many requests over fetch, WebSocket or Socket.IO, each reply verified.
//
// Knows how a browser asks and what it tells of that; must not know who wants it or how it is
// shown. Times are milliseconds from the first request. Set-up comes before, and is told apart.

/** Does a job; gives what became of it. Rejects where nothing can be asked at all. */
export async function measure(job) {
  const transport = { fetch: overFetch, websocket: overWebSocket, "socket.io": overSocketIo };
  return transport[job.transport](job);
}

async function overFetch(job) {
  const run = token();
  const address = (mark) => {
    const url = new URL(job.path, job.base);
    url.searchParams.set("run", `${run}${mark}`);
    return url.href;
  };
  performance.setResourceTimingBufferSize(10_000);
  performance.clearResourceTimings();
  // To other URLs: what is measured finds connections, and an empty cache.
  const warm = range(job.warmup).map((at) => address(`-warm-${at}`));
  const right = await Promise.all(warm.map((url) => ask(url, "no-store", job)));
  if (new Set(right).size > 1) throw new Error("the server answers the same request differently");
  const before = await entries(warm.length);
  performance.clearResourceTimings();

  const url = (at) => address(job.urls === "same" ? "" : `-${at}`);
  const { asked, failed } = await send(job, async (at) => {
    const reply = await ask(url(at), job.cache, job);
    if (reply !== right[0]) throw new Error(`a reply is not as the first: ${reply.slice(0, 60)}`);
  });
  const after = await entries(asked.requests.length);
  // The browser tells of each by its URL, which may be the same: the nth to end is the nth that
  // ended there too.
  const told = after.sort((a, b) => a.responseEnd - b.responseEnd);
  const ended = [...asked.requests].sort((a, b) => a.done - b.done);
  ended.forEach((one, at) => {
    const entry = told[at];
    // What the cache had, and need not ask about, never went out.
    if (entry?.requestStart && !isCached(entry)) {
      const within = (at) => Math.min(Math.max(at - asked.origin, one.sent), one.done);
      one.began = within(entry.requestStart);
      one.ended = within(entry.responseEnd);
    }
  });
  const all = [...before, ...after];
  return {
    agent: agent(),
    protocol: all.find((entry) => entry.nextHopProtocol)?.nextHopProtocol ?? "not told",
    setup_ms: before.filter(isNew).map((entry) => entry.connectEnd - entry.connectStart),
    connections: all.filter(isNew).length,
    requests: asked.requests,
    failed,
    revalidated: after.filter(isRevalidated).length,
    from_cache: after.filter(isCached).length,
  };
}

function isNew(entry) {
  return entry.connectEnd > entry.connectStart;
}

// The browser counts every head as 300 bytes, and a body only where it came over the network.
function isRevalidated({ transferSize, encodedBodySize }) {
  return transferSize > 0 && transferSize < 300 + encodedBodySize;
}

function isCached({ transferSize, encodedBodySize }) {
  return transferSize === 0 && encodedBodySize > 0;
}

async function ask(url, cache, job) {
  const signal = AbortSignal.timeout(job.timeout_ms);
  const reply = await fetch(url, { cache, signal, credentials: "omit" });
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(`status ${reply.status}`);
  return text;
}

/** What the browser tells of the requests since it was last cleared: it does so a little later. */
async function entries(wanted) {
  for (let turn = 0; turn < 20; turn += 1) {
    const found = performance.getEntriesByType("resource")
      .filter((entry) => entry.initiatorType === "fetch");
    if (found.length >= wanted) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return performance.getEntriesByType("resource")
    .filter((entry) => entry.initiatorType === "fetch");
}

async function overWebSocket(job) {
  const began = performance.now();
  const socket = await open(job, job.socket_path);
  const setup = performance.now() - began;
  const waiting = new Map();
  socket.onmessage = ({ data }) => {
    waiting.get(data)?.();
    waiting.delete(data);
  };
  const echo = (content) => within(job, socket, (resolve) => {
    waiting.set(content, resolve);
    socket.send(content);
  });
  return conversation(job, socket, setup, (at) => echo(`{"id":"testing-${at}"}`));
}

// Engine.IO 4 over WebSocket, the default namespace: `0` greeting, `40` entered, `42N[…]` an event
// that is to be acknowledged, `43N[…]` its acknowledgement, `2` and `3` the heartbeat.
async function overSocketIo(job) {
  const began = performance.now();
  const socket = await open(job, "/socket.io/?EIO=4&transport=websocket");
  const waiting = new Map();
  await within(job, socket, (resolve) => {
    socket.onmessage = ({ data }) => {
      if (data.startsWith("0")) socket.send("40");
      else if (data === "2") socket.send("3");
      else if (data.startsWith("40")) resolve();
      else if (data.startsWith("43")) {
        const [, number, content] = /^43(\d+)(.*)$/s.exec(data);
        waiting.get(Number(number))?.(content);
        waiting.delete(Number(number));
      }
    };
  });
  const setup = performance.now() - began;
  let number = 0;
  const emit = async (id) => {
    const content = await within(job, socket, (resolve) => {
      waiting.set(number, resolve);
      socket.send(`42${number}${JSON.stringify(["get", "messages", id])}`);
      number += 1;
    });
    const [error, message] = JSON.parse(content);
    if (error !== null || message.id !== id) throw new Error(`a reply is wrong: ${content}`);
  };
  return conversation(job, socket, setup, () => emit("testing"));
}

async function conversation(job, socket, setup, one) {
  // The first message on a connection pays for what comes once.
  await one("first");
  const { asked, failed } = await send(job, one);
  socket.onclose = null;
  socket.close();
  for (const request of asked.requests) {
    request.began = request.sent;
    request.ended = request.done;
  }
  return {
    agent: agent(),
    protocol: "websocket",
    setup_ms: [setup],
    connections: 1,
    requests: asked.requests,
    failed,
    revalidated: 0,
    from_cache: 0,
  };
}

function open(job, path) {
  const url = new URL(path, job.base);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(url);
  return within(job, socket, (resolve) => {
    socket.onopen = () => resolve(socket);
  });
}

/** What `begin` resolves to, unless the socket ends or the time does. */
function within(job, socket, begin) {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error("no reply in time")), job.timeout_ms);
    const ended = () => {
      clearTimeout(limit);
      reject(new Error("the WebSocket could not be opened, or was closed"));
    };
    socket.addEventListener("close", ended, { once: true });
    begin((value) => {
      clearTimeout(limit);
      socket.removeEventListener("close", ended);
      resolve(value);
    });
  });
}

/** Sends them all at once, or one after the other; for `window_ms` where that is given. */
async function send(job, one) {
  const requests = [];
  const failed = [];
  const origin = performance.now();
  const single = async (at) => {
    const sent = performance.now() - origin;
    try {
      await one(at);
      requests.push({ sent, began: null, ended: null, done: performance.now() - origin });
    } catch (error) {
      failed.push(String(error.message ?? error));
    }
  };
  if (job.pattern === "parallel") {
    await Promise.all(range(job.requests).map(single));
  } else {
    const goesOn = (at) => job.window_ms
      ? performance.now() - origin < job.window_ms
      : at < job.requests;
    for (let at = 0; goesOn(at) && failed.length < 3; at += 1) await single(at);
  }
  return { asked: { origin, requests }, failed };
}

function agent() {
  const [, name, version] = /(Firefox|Edg|Chrome)\/([\d.]+)/.exec(navigator.userAgent) ?? [];
  return name ? `${name === "Chrome" ? "Chromium" : name} ${version}` : navigator.userAgent;
}

function token() {
  return Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

function range(count) {
  return Array.from({ length: count }, (_, at) => at);
}
