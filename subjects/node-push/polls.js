// Long polls: events by number, and those who wait for the next one.
//
// Knows what was published last; must not know who else is told.

/** Events that are kept for those who ask next. */
const KEPT = 1000;
/** A poll is answered by then, even where nothing was published: proxies wait for longer. */
const LONGEST_MS = 25_000;

/** The last events, and the number of the last one, from 1 on. */
const events = [];
let last = 0;
/** The polls that wait: of each the response, and what ends it when nothing comes. */
const waiting = new Map();

/** Keeps an event, and answers all who wait: what they have not heard is this one. */
export function keep(text) {
  last += 1;
  events.push(text);
  if (events.length > KEPT) {
    events.shift();
  }
  for (const [response, timer] of waiting) {
    clearTimeout(timer);
    tell(response, [text]);
  }
  waiting.clear();
}

/** Answers with what is behind the number that is asked for, now or once there is something. */
export function poll(request, response) {
  const after = new URL(request.url, "http://localhost").searchParams.get("after");
  if (after === null) {
    tell(response, []);
    return;
  }
  const behind = last - Number(after);
  if (behind > 0) {
    tell(response, events.slice(-behind));
    return;
  }
  const timer = setTimeout(() => {
    waiting.delete(response);
    tell(response, []);
  }, LONGEST_MS);
  waiting.set(response, timer);
  response.on("close", () => {
    clearTimeout(timer);
    waiting.delete(response);
  });
}

function tell(response, told) {
  const content = JSON.stringify({ last, events: told });
  response.writeHead(200, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(content),
  });
  response.end(content);
}
