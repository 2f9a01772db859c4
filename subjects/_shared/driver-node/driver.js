// The loop of a client driver: warm-up, repetitions, a line of JSON for each.
//
// Knows the clock, the histogram and the contract in subjects/_contract/README.md; must not know
// any library. A library's client is made by `makeClient({ url, authority, tuned, onConnection })`,
// which returns at once an object with
//
//   ready()            a promise of its connection, if it can be opened without a request
//   exchange(message)  a promise of the reply's content
//   close()            ends it in order, as a promise
//   destroy(error)     ends it at once; whatever is pending is rejected
//
// and calls `onConnection()` for each connection that it opens.

import { build, encodeIntoCompressedBase64 } from "hdr-histogram-js";
import { readOptions, UsageError } from "./options.js";

const LONGEST_NS = 60_000_000_000;
const MOST_FAILURES_IN_A_ROW = 10;

/** Runs the driver as the command line says, and ends the process with the contract's exit code. */
export async function drive({ name, library, schemes, makeClient }) {
  try {
    const options = readOptions(process.argv.slice(2), schemes);
    if (options.version) {
      print(library);
    } else {
      await new Driver(options, library, makeClient).run();
    }
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${name}: ${oneLine(error)}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  }
}

class Driver {
  constructor(options, library, makeClient) {
    this.options = options;
    this.library = library;
    this.makeClient = makeClient;
    this.client = null;
    this.opened = 0;
    this.failuresInARow = 0;
  }

  async run() {
    const { kept, warmup, repetitions } = this.options;
    // A kept connection stands before the clock starts: the first exchange is never recorded.
    const unrecorded = kept ? Math.max(warmup, 1) : warmup;
    for (let iteration = 0; iteration < unrecorded; iteration += 1) {
      await this.iterate(() => {}, () => {});
    }
    for (let repetition = 0; repetition < repetitions; repetition += 1) {
      print(JSON.stringify(await this.repeat(repetition)));
    }
    await this.disconnect();
  }

  async repeat(repetition) {
    const histogram = build({
      bitBucketSize: 64,
      autoResize: false,
      lowestDiscernibleValue: 1,
      highestTrackableValue: LONGEST_NS,
      numberOfSignificantValueDigits: 3,
    });
    const record = (elapsed) => histogram.recordValue(Math.min(elapsed, LONGEST_NS));
    const failures = { count: 0, first: null };
    const fail = (error) => {
      failures.count += 1;
      failures.first ??= oneLine(error);
    };
    this.opened = this.client ? 1 : 0;
    const cpu = process.cpuUsage();
    const start = process.hrtime.bigint();
    for (let iteration = 0; iteration < this.options.iterations; iteration += 1) {
      await this.iterate(record, fail);
    }
    const wall = process.hrtime.bigint() - start;
    const { user, system } = process.cpuUsage(cpu);
    return {
      schema: "wiretrial-driver",
      version: 1,
      library: this.library,
      repetition,
      mode: this.options.kept ? "kept" : "fresh",
      iterations: this.options.iterations,
      errors: failures.count,
      first_error: failures.first,
      connections: this.opened,
      wall_ns: Number(wall),
      cpu_user_ns: user * 1000,
      cpu_system_ns: system * 1000,
      histogram: encodeIntoCompressedBase64(histogram),
    };
  }

  /** One iteration; its nanoseconds or its failure go to whom they concern. */
  async iterate(record, fail) {
    const deadline = setTimeout(() => this.giveUp(), this.options.timeoutMs);
    try {
      record(await this.exchange());
      this.failuresInARow = 0;
    } catch (error) {
      this.client?.destroy(error);
      this.client = null;
      fail(error);
      this.countFailure(error);
    }
    if (!this.options.kept) {
      await this.disconnect();
    }
    clearTimeout(deadline);
  }

  /** The nanoseconds of one verified exchange, and of its connection where there is none yet. */
  async exchange() {
    const start = process.hrtime.bigint();
    if (!this.client) {
      this.client = this.connect();
      await this.client.ready();
    }
    verify(await this.client.exchange(this.options.message), this.options.expected);
    return Number(process.hrtime.bigint() - start);
  }

  connect() {
    const { url, authority, tuned } = this.options;
    const onConnection = () => {
      this.opened += 1;
    };
    return this.makeClient({ url, authority, tuned, onConnection });
  }

  /** What goes wrong now is no failure of the exchange before. */
  async disconnect() {
    await this.client?.close().catch((error) => this.client.destroy(error));
    this.client = null;
  }

  countFailure(error) {
    this.failuresInARow += 1;
    if (this.failuresInARow === MOST_FAILURES_IN_A_ROW) {
      throw new Error(`${MOST_FAILURES_IN_A_ROW} failures in a row; the last: ${oneLine(error)}`);
    }
  }

  giveUp() {
    this.client?.destroy(new Error(`no reply within ${this.options.timeoutMs / 1000} s`));
  }
}

/** Throws unless the reply is what was expected, byte by byte. */
function verify(reply, expected) {
  if (expected.equals(reply)) {
    return;
  }
  if (reply.length !== expected.length) {
    throw new Error(`wrong reply: ${reply.length} bytes instead of ${expected.length}`);
  }
  const where = expected.findIndex((byte, index) => byte !== reply[index]);
  throw new Error(`wrong reply: byte ${where} is ${reply[where]} instead of ${expected[where]}`);
}

function print(line) {
  process.stdout.write(`${line}\n`);
}

function oneLine(error) {
  // Where several addresses were tried, the message is empty and the code says it all.
  return String(error.message || error.code || error).replaceAll(/\s*\n\s*/g, "; ");
}
