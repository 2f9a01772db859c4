// A picture of when each request waited and when it was under way.
//
// Knows SVG; must not know how anything was measured.

const NAMESPACE = "http://www.w3.org/2000/svg";
const MOST_ROWS = 60;
/** The requests as lines, in the order in which they ended; of many, some evenly; so many pixels wide. */
export function waterfall(requests, width) {
  const ended = [...requests].sort((a, b) => a.done - b.done);
  const shown = spread(ended, MOST_ROWS);
  const last = Math.max(...ended.map(({ done }) => done), 0.001);
  const step = shown.length > 24 ? 6 : 12;
  const height = Math.max(shown.length * step, 24);
  const root = element("svg", { viewBox: `0 0 ${width} ${height + 26}`, class: "waterfall", role: "img" });
  root.setAttribute("aria-label", `${shown.length} of ${ended.length} requests, the last done after ${time(last)}.`);
  for (const mark of ticks(last)) {
    const x = (mark / last) * width;
    root.append(element("line", { x1: x, x2: x, y1: 0, y2: height, class: "rule" }));
    const anchor = x < 20 ? "start" : x > width - 40 ? "end" : "middle";
    const label = element("text", { x, y: height + 18, "text-anchor": anchor });
    label.textContent = time(mark);
    root.append(label);
  }
  shown.forEach(({ sent, began, done }, row) => {
    const from = began ?? sent;
    const bar = (start, end, kind) => root.append(element("rect", {
      x: (start / last) * width,
      width: Math.max(((end - start) / last) * width, kind === "goes" ? 1 : 0),
      y: row * step + step * 0.15,
      height: step * 0.7,
      class: kind,
    }));
    bar(sent, from, "waits");
    bar(from, done, "goes");
  });
  return root;
}

/** A time in words, three digits: `812 µs`, `5.31 ms`, `1.02 s`. */
export function time(ms) {
  if (ms >= 1000) return `${digits(ms / 1000)} s`;
  return ms >= 1 ? `${digits(ms)} ms` : `${digits(ms * 1000)} µs`;
}

export function digits(value) {
  if (!value) return "0";
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(decimals, 3));
}

/** The least value that the share `q` of all does not exceed. */
export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)];
}

function ticks(last) {
  const rough = last / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, at) => at * step);
}

function spread(items, most) {
  if (items.length <= most) return items;
  return Array.from({ length: most }, (_, at) => items[Math.round((at * (items.length - 1)) / (most - 1))]);
}

function element(name, attributes) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
