// The tables of the contract `web`, asked by pg: for every framework of Node.

import pg from "pg";

const ONE = { name: "one", text: "SELECT id, number FROM world WHERE id = $1" };
const CHANGE = { name: "change", text: "UPDATE world SET number = $2 WHERE id = $1" };
const LOGIN = {
  name: "login",
  text:
    "SELECT id FROM account WHERE name = $1" +
    " AND digest = encode(sha256(convert_to($2, 'UTF8')), 'hex')",
};
const SESSION = { name: "session", text: "INSERT INTO session (account) VALUES ($1) RETURNING token" };
const ACCOUNT = { name: "account", text: "SELECT account FROM session WHERE token = $1" };
const ITEMS = {
  name: "items",
  text: "SELECT id, text FROM item WHERE account = $1 ORDER BY id DESC LIMIT 20",
};
const ADD = { name: "add", text: "INSERT INTO item (account, text) VALUES ($1, $2) RETURNING id" };
const FORTUNES = { name: "fortunes", text: "SELECT id, message FROM fortune" };

/** A pool of connections. Its methods are the contract's, row by row. */
export class Store {
  #pool = new pg.Pool({
    connectionString: process.env.DATABASE_URL,
    max: Number(process.env.DATABASE_POOL),
    idleTimeoutMillis: 0,
  });
  #cached;

  /** A row of `world`. */
  row = (id) => this.#first(ONE, [id]);

  /** Rows of `world`, each by a statement of its own, on one connection. */
  rows = (ids) => this.#held((client) => this.#each(client, ids));

  /** Reads each row, and gives it its new number. */
  change = (changes) =>
    this.#held(async (client) => {
      await this.#each(client, changes.map((row) => row.id));
      for (const { id, number } of changes) await client.query({ ...CHANGE, values: [id, number] });
    });

  /** Rows of `cached_world`, which are read once. */
  cached = async (ids) => {
    if (!this.#cached) {
      const found = await this.#pool.query("SELECT id, number FROM cached_world");
      this.#cached = new Map(found.rows.map((row) => [row.id, row]));
    }
    return ids.map((id) => this.#cached.get(id));
  };

  /** The table `fortune`. */
  fortunes = async () => (await this.#pool.query(FORTUNES)).rows;

  /** A new token; none where name and password do not fit. */
  login = async ({ name, password }) => {
    const account = await this.#first(LOGIN, [name, password]);
    return account && (await this.#first(SESSION, [account.id])).token;
  };

  /** Whose token it is; undefined: nobody's. */
  account = async (token) => (await this.#first(ACCOUNT, [token]))?.account;

  /** The newest items of an account. */
  items = async (account) => (await this.#pool.query({ ...ITEMS, values: [account] })).rows;

  /** A new item of an account. */
  add = async (account, text) => ({ ...(await this.#first(ADD, [account, text])), text });

  #first = async (statement, values) =>
    (await this.#pool.query({ ...statement, values })).rows[0];

  #each = async (client, ids) => {
    const found = [];
    for (const id of ids) found.push((await client.query({ ...ONE, values: [id] })).rows[0]);
    return found;
  };

  #held = async (work) => {
    const client = await this.#pool.connect();
    try {
      return await work(client);
    } finally {
      client.release();
    }
  };
}
