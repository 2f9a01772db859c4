// What the times say: how many requests were under way, and who held the others back.
//
// Pure: from what was measured to sentences. Must not know how it was measured or is shown.

import { digits, time } from "/drawing.js";

/** Where a browser does not tell what is under way, two times are told apart from this factor on. */
const APART = 1.5;

/** The ways in which fifty requests are made, so that they differ in one thing at a time. */
export function matrix({ transports, bases }) {
  const versions = Object.keys(bases).sort().filter((name) => name === "1.1" || name === "2");
  const ways = [{ name: "one request", transport: "fetch", http: versions[0], requests: 1 }];
  for (const http of versions) {
    ways.push(
      { name: `HTTP/${http}, one URL`, transport: "fetch", http, urls: "same" },
      { name: `HTTP/${http}, a URL each`, transport: "fetch", http, urls: "unique" },
      { name: `HTTP/${http}, one URL, no-store`, transport: "fetch", http, urls: "same", cache: "no-store" },
    );
  }
  for (const [transport, name] of [["websocket", "WebSocket"], ["socket.io", "Socket.IO"]]) {
    if (transports.includes(transport)) ways.push({ name, transport, http: versions[0] });
  }
  return ways;
}

/** One measurement in words. */
export function said(asked, outcome) {
  const { requests, failed } = outcome;
  if (!requests.length) return `Nothing was answered rightly: ${failed[0]}.`;
  const wrong = failed.length ? ` ${failed.length} failed, the first: ${failed[0]}.` : "";
  const last = Math.max(...requests.map(({ done }) => done));
  if (requests.length === 1) return `The reply was there after ${time(last)}.${wrong}`;
  if (asked.pattern === "sequential") {
    return `${requests.length} replies in ${time(last)}: ${time(last / requests.length)} each.${wrong}`;
  }
  const most = underWay(outcome);
  const kept = outcome.revalidated ? ` ${outcome.revalidated} replies came from the cache, after asking the server.` : "";
  const own = outcome.from_cache
    ? `${outcome.from_cache} replies came from the cache, and nobody was asked.`
    : width(asked, most, requests.length);
  return `All ${requests.length} were done after ${time(last)}. ${own}${kept}${wrong}`;
}

function width(asked, most, count) {
  if (!most) return "The browser does not tell how many were under way at once.";
  if (most >= count) return "All were under way at once.";
  if (most === 1) {
    return asked.urls === "same" && asked.cache === "default"
      ? "One was under way at a time: for one URL the browser waits for the reply before it asks again, because the cache may then have it."
      : "One was under way at a time.";
  }
  return `At most ${most} were under way at once; the others waited in the browser.`;
}

/** The most requests that were under way at one instant; 0 where the browser does not tell. */
export function underWay({ requests }) {
  const steps = requests
    .filter(({ began, ended }) => began !== null && ended > began)
    .flatMap(({ began, ended }) => [[began, 1], [ended, -1]])
    .sort(([a, up], [b, down]) => a - b || up - down);
  let now = 0;
  return Math.max(0, ...steps.map(([, change]) => (now += change)));
}

/** What the ways together say of the first version of HTTP; computed from their times alone. */
export function explained(found) {
  const of = (name) => found.find((one) => one.name === name);
  const last = (one) => Math.max(...one.outcome.requests.map(({ done }) => done));
  const one = last(of("one request"));
  const first = of("one request").http;
  const [same, unique, bare] = ["one URL", "a URL each", "one URL, no-store"]
    .map((name) => of(`HTTP/${first}, ${name}`));
  const times = (way) => `${digits(last(way) / one)} times one request`;
  const sentences = [];
  const widths = [same, unique].map((way) => underWay(way.outcome));
  const locked = widths.every(Boolean)
    ? widths[0] < widths[1]
    : last(same) > APART * last(unique);
  sentences.push(locked
    ? `Lock: to one URL they took ${time(last(same))}, ${times(same)}; to a URL each ${time(last(unique))}. ` +
      `With no-store, which leaves the cache out, ${time(last(bare))}.`
    : `No lock shows: to one URL they took ${time(last(same))}, to a URL each ${time(last(unique))}.`);
  const most = underWay(unique.outcome);
  const count = unique.outcome.requests.length;
  if (most && most < count) {
    sentences.push(`Limit: with a URL each, at most ${most} were under way at once, and they took ${times(unique)} ` +
      `(${count} / ${most} is ${digits(count / most)}).`);
  }
  const other = of("HTTP/2, a URL each");
  if (other && other !== unique) {
    sentences.push(`Over HTTP/2 ${underWay(other.outcome)} were under way at once, done after ${time(last(other))}.`);
  }
  sentences.push(`Link and server: one request takes ${time(one)}.`);
  return sentences.join(" ");
}
