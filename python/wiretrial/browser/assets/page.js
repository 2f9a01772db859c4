// The page: what a person chooses, or jobs that come by themselves, and what is shown of them.
//
// Knows the form and the desk that served it; must not know how a request is made (`measure.js`).

import { digits, quantile, time, waterfall } from "/drawing.js";
import { explained, matrix, said, underWay } from "/explain.js";
import { measure } from "/measure.js";

const NAMES = { fetch: "fetch", websocket: "WebSocket", "socket.io": "Socket.IO" };
const find = (id) => document.getElementById(id);
const form = find("form");
const about = await (await fetch("/about")).json();

find("subject").textContent = about.subject;
offer("transports", "transport", about.transports.map((name) => [name, NAMES[name]]));
// Sorted: a key that is a number would come first.
offer("versions", "http", Object.keys(about.bases).sort().map((name) => [name, name === "2" ? "2 (over TLS)" : name]));
form.addEventListener("change", adapt);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  busy(() => single(chosen()));
});
find("explain").addEventListener("click", () => busy(explain));
adapt();
form.querySelectorAll("button").forEach((button) => { button.disabled = false; });
if (about.by_itself) await byItself();

/** Radio buttons for a choice. */
function offer(id, name, options) {
  options.forEach(([value, text], at) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    Object.assign(input, { type: "radio", name, value, checked: at === 0 });
    const words = document.createElement("span");
    words.textContent = text;
    label.append(input, words);
    find(id).append(label);
  });
}

/** What has no meaning for the choice can't be chosen. */
function adapt() {
  const { transport, pattern } = Object.fromEntries(new FormData(form));
  for (const id of ["urls", "cache"]) find(id).disabled = transport !== "fetch";
  const is = { one: pattern === "one", sequential: pattern === "sequential" };
  find("of-requests").hidden = is.sequential || is.one;
  find("of-seconds").hidden = !is.sequential;
  find("of-requests").parentElement.hidden = is.one;
}

function chosen() {
  const picked = Object.fromEntries(new FormData(form));
  const one = picked.pattern === "one";
  return job({
    transport: picked.transport,
    http: picked.http,
    urls: picked.urls ?? "same",
    cache: picked.cache ?? "default",
    pattern: one ? "sequential" : picked.pattern,
    requests: one ? 1 : Number(picked.requests),
    window_ms: picked.pattern === "sequential" ? 1000 * Number(picked.seconds) : null,
  });
}

/** A job for the desk's servers, with the version of HTTP beside it for people. */
function job({ http, ...rest }) {
  return {
    http,
    asked: {
      base: about.bases[http],
      path: about.path,
      socket_path: about.socket_path,
      urls: "same",
      cache: "default",
      pattern: "parallel",
      requests: 50,
      window_ms: null,
      warmup: 6,
      timeout_ms: 60_000,
      ...rest,
    },
  };
}

async function single({ http, asked }) {
  const outcome = await measure(asked);
  show(http, asked, outcome);
  await tell({ job: asked, outcome });
}

function show(http, asked, outcome) {
  const times = outcome.requests.map(({ sent, done }) => done - sent);
  find("result").hidden = false;
  find("asked").textContent = words(http, asked);
  find("said").textContent = said(asked, outcome);
  const figures = {
    "all done after": time(elapsed(outcome)),
    "p50": time(quantile(times, 0.5)),
    "slowest": time(quantile(times, 1)),
    "under way at once": underWay(outcome) || "not told",
    "requests a second": digits((1000 * times.length) / elapsed(outcome)),
    "set-up of a connection": setup(outcome),
    "connections": outcome.connections,
    "spoken": outcome.protocol,
  };
  find("figures").replaceChildren(...Object.entries(figures).map(([name, value]) => pair(name, value)));
  find("picture").replaceChildren(waterfall(outcome.requests, find("picture").clientWidth || 1000));
  find("asked").focus();
  find("before").hidden = false;
  row(find("before"), [
    words(http, asked),
    time(elapsed(outcome)),
    figures.p50,
    figures.slowest,
    figures["under way at once"],
    figures["set-up of a connection"],
  ]);
}

async function explain() {
  const table = find("explained");
  table.querySelector("tbody").replaceChildren();
  const found = [];
  for (const { name, ...rest } of matrix(about)) {
    find("doing").textContent = name;
    const made = job(rest);
    const outcome = await measure(made.asked);
    found.push({ name, asked: made.asked, http: made.http, outcome });
    table.hidden = false;
    const one = found[0].outcome;
    row(table, [
      name,
      time(elapsed(outcome)),
      digits(elapsed(outcome) / elapsed(one)),
      underWay(outcome) || "not told",
      setup(outcome),
    ]);
    await tell({ job: made.asked, outcome });
  }
  find("why").textContent = explained(found);
  table.querySelector("h2").focus();
}

async function busy(work) {
  const buttons = form.querySelectorAll("button");
  buttons.forEach((button) => { button.disabled = true; });
  find("doing").textContent = "measuring";
  document.querySelectorAll(".problem").forEach((one) => one.remove());
  try {
    await work();
  } catch (error) {
    const text = document.createElement("p");
    text.className = "problem";
    text.setAttribute("role", "alert");
    text.textContent = `It could not be measured: ${error.message}. ${about.remedy}`;
    form.after(text);
  }
  find("doing").textContent = "";
  buttons.forEach((button) => { button.disabled = false; });
}

/** Jobs that come from the desk, one after the other, with nobody there. */
async function byItself() {
  form.hidden = true;
  for (;;) {
    const asked = await (await fetch("/job")).json();
    if (!asked) return;
    try {
      const outcome = await measure(asked);
      await tell({ job: asked, outcome });
      if (outcome.requests.length) show("", asked, outcome);
    } catch (error) {
      await tell({ problem: String(error.message ?? error) });
    }
  }
}

async function tell(document) {
  const headers = { "Content-Type": "application/json", "X-Wiretrial": "1" };
  const reply = await fetch("/outcome", { method: "POST", headers, body: JSON.stringify(document) });
  const { kept } = await reply.json();
  if (kept) find("kept").textContent = kept;
}

function words(http, asked) {
  const { transport, pattern, requests, window_ms: window } = asked;
  const how = window
    ? `one by one for ${window / 1000} s`
    : requests === 1 ? "one request" : `${requests} ${pattern === "parallel" ? "at once" : "one by one"}`;
  const over = [NAMES[transport], ...(http ? [`HTTP/${http}`] : [])];
  const where = transport === "fetch" && requests > 1
    ? [asked.urls === "same" ? "one URL" : "a URL each", ...(asked.cache === "no-store" ? ["no-store"] : [])]
    : [];
  return [how, over.join(", "), ...where].join(", ");
}

function elapsed({ requests }) {
  return Math.max(...requests.map(({ done }) => done)) - Math.min(...requests.map(({ sent }) => sent));
}

function setup({ setup_ms: times }) {
  return times.length ? time(quantile(times, 0.5)) : "kept from before";
}

function pair(name, value) {
  const made = document.createElement("div");
  for (const [tag, text] of [["dt", name], ["dd", value]]) {
    const part = document.createElement(tag);
    part.textContent = text;
    made.append(part);
  }
  return made;
}

function row(section, cells) {
  const made = document.createElement("tr");
  cells.forEach((text, at) => {
    const cell = document.createElement("td");
    cell.textContent = text;
    if (at) cell.className = "num";
    made.append(cell);
  });
  section.querySelector("tbody").append(made);
}
