// The command line of a client driver, as subjects/_contract/README.md gives it.
//
// Knows words and files; must not know any library. What is wrong with it is a UsageError.

import fs from "node:fs";
import { parseArgs } from "node:util";

export class UsageError extends Error {}

/** What to do: options with the message, the reply that is expected and the trusted authority. */
export function readOptions(words, schemes) {
  const values = parse(words);
  if (values.version) {
    return { version: true };
  }
  const url = readUrl(values.url, schemes);
  const secure = ["https:", "wss:", "grpcs:"].includes(url.protocol);
  const http = url.protocol.startsWith("http");
  const size = readCount(values, "payload", 0);
  if (secure && !values.cacert) {
    throw new UsageError(`--cacert: needed for ${url.protocol.slice(0, -1)}`);
  }
  if (http && size === 0 && !values.expect) {
    throw new UsageError("--expect: needed for a GET (--payload 0)");
  }
  if (values.mode !== "kept" && values.mode !== "fresh") {
    throw new UsageError("--mode: kept or fresh");
  }
  if (values.http !== "1.1" && values.http !== "2") {
    throw new UsageError("--http: 1.1 or 2");
  }
  const message = Buffer.from({ length: size }, (_, index) => 33 + (index % 90));
  return {
    url,
    message,
    expected: http && size === 0 ? readFile("expect", values.expect) : message,
    authority: secure ? readFile("cacert", values.cacert) : undefined,
    kept: values.mode === "kept",
    warmup: readCount(values, "warmup", 0),
    iterations: readCount(values, "iterations", 1),
    repetitions: readCount(values, "repetitions", 1),
    timeoutMs: readSeconds(values.timeout) * 1000,
    tuned: values.tuned,
    /** HTTP/2 and nothing else. */
    http2: values.http === "2",
  };
}

function parse(words) {
  const text = { type: "string" };
  const flag = { type: "boolean", default: false };
  const options = {
    url: text,
    payload: text,
    warmup: text,
    iterations: text,
    repetitions: text,
    mode: text,
    cacert: text,
    expect: text,
    timeout: { type: "string", default: "10" },
    http: { type: "string", default: "1.1" },
    tuned: flag,
    version: flag,
  };
  try {
    return parseArgs({ args: words, options }).values;
  } catch (error) {
    throw new UsageError(error.message);
  }
}

function readUrl(text, schemes) {
  if (!text || !URL.canParse(text)) {
    throw new UsageError("--url: a URL is needed");
  }
  const url = new URL(text);
  if (!schemes.includes(url.protocol.slice(0, -1))) {
    throw new UsageError(`--url: ${schemes.join(" or ")} is needed`);
  }
  return url;
}

function readCount(values, name, least) {
  const count = /^\d+$/.test(values[name] ?? "") ? Number(values[name]) : NaN;
  if (!Number.isSafeInteger(count) || count < least) {
    throw new UsageError(`--${name}: a whole number from ${least} is needed`);
  }
  return count;
}

function readSeconds(text) {
  const seconds = Number(text);
  // Node's timers end at 2^31 ms.
  if (!(seconds > 0 && seconds <= 1_000_000)) {
    throw new UsageError("--timeout: seconds above 0 are needed, at most 1000000");
  }
  return seconds;
}

function readFile(name, path) {
  try {
    return fs.readFileSync(path);
  } catch (error) {
    throw new UsageError(`--${name}: ${error.message}`);
  }
}
