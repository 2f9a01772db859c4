// The contract `web` in Bun: its server with routes, its client of PostgreSQL, and its escapeHTML.

import { SQL, escapeHTML } from "bun";
import { GREETING, HTML, changes, fortunes, ids, options, token } from "./shared/web-node/contract.js";

const { host, port, tuned } = options();
const sql = new SQL(process.env.DATABASE_URL, { max: Number(process.env.DATABASE_POOL) });

type Row = { id: number; number: number };
let kept: Map<number, Row> | undefined;

const query = (request: Request) => Object.fromEntries(new URL(request.url).searchParams);
const json = (said: unknown, status = 200) => Response.json(said, { status });

/** Work on one connection of the pool. */
const held = async <T>(work: (one: typeof sql) => Promise<T>) => {
  const connection = await sql.reserve();
  try {
    return await work(connection);
  } finally {
    connection.release();
  }
};

/** Rows of `world`, each by a statement of its own. */
const rows = async (one: typeof sql, wanted: number[]) => {
  const found: Row[] = [];
  for (const id of wanted) {
    found.push((await one`SELECT id, number FROM world WHERE id = ${id}`)[0]);
  }
  return found;
};

const change = (changed: Row[]) =>
  held(async (one) => {
    await rows(one, changed.map(({ id }) => id));
    for (const { id, number } of changed) {
      await one`UPDATE world SET number = ${number} WHERE id = ${id}`;
    }
  });

const cached = async (wanted: number[]) => {
  if (!kept) {
    const all: Row[] = await sql`SELECT id, number FROM cached_world`;
    kept = new Map(all.map((row) => [row.id, row]));
  }
  return wanted.map((id) => kept!.get(id));
};

const page = async () => {
  const found = fortunes(await sql`SELECT id, message FROM fortune`);
  const cells = found.map(
    ({ id, message }) => `<tr><td>${id}</td><td>${escapeHTML(message)}</td></tr>`,
  );
  return (
    "<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table>" +
    `<tr><th>id</th><th>message</th></tr>${cells.join("")}</table></body></html>`
  );
};

const login = async (request: Request) => {
  const { name, password } = await request.json();
  const [account] = await sql`SELECT id FROM account WHERE name = ${name}
    AND digest = encode(sha256(convert_to(${password}, 'UTF8')), 'hex')`;
  if (!account) return json({}, 401);
  const [made] = await sql`INSERT INTO session (account) VALUES (${account.id}) RETURNING token`;
  return json({ token: made.token });
};

/** Whose token it is; undefined: nobody's. */
const known = async (request: Request) => {
  const said = token(request.headers.get("authorization"));
  return (await sql`SELECT account FROM session WHERE token = ${said}`)[0]?.account;
};

Bun.serve({
  hostname: host,
  port: Number(port),
  development: !tuned,
  routes: {
    "/plaintext": { GET: () => new Response(GREETING, { headers: { "Content-Type": "text/plain" } }) },
    "/json": { GET: () => json({ message: GREETING }) },
    "/db": { GET: async (request) => json((await rows(sql, [Number(query(request).id)]))[0]) },
    "/queries": { GET: async (request) => json(await held((one) => rows(one, ids(query(request))))) },
    "/updates": {
      GET: async (request) => {
        const changed = changes(query(request));
        await change(changed);
        return json(changed);
      },
    },
    "/cached": { GET: async (request) => json(await cached(ids(query(request)))) },
    "/fortunes": {
      GET: async () => new Response(await page(), { headers: { "Content-Type": HTML } }),
    },
    "/login": { POST: login },
    "/items": {
      GET: async (request) => {
        const account = await known(request);
        if (account === undefined) return json({}, 401);
        return json(
          await sql`SELECT id, text FROM item WHERE account = ${account} ORDER BY id DESC LIMIT 20`,
        );
      },
      POST: async (request) => {
        const { text } = await request.json();
        const account = await known(request);
        if (account === undefined) return json({}, 401);
        const [made] =
          await sql`INSERT INTO item (account, text) VALUES (${account}, ${text}) RETURNING id`;
        return json({ id: made.id, text }, 201);
      },
    },
  },
  fetch: () => json({}, 404),
});
