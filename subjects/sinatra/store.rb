# frozen_string_literal: true

# The tables of the contract `web`, asked by pg: a thread waits for its answer.

require "connection_pool"
require "pg"

require_relative "shared/web-ruby/contract"

# A pool of connections. Its methods are the contract's, row by row.
class Store
  STATEMENTS = {
    "one" => "SELECT id, number FROM world WHERE id = $1",
    "change" => "UPDATE world SET number = $2 WHERE id = $1",
    "fortunes" => "SELECT id, message FROM fortune",
    "login" => "SELECT id FROM account WHERE name = $1 " \
               "AND digest = encode(sha256(convert_to($2, 'UTF8')), 'hex')",
    "session" => "INSERT INTO session (account) VALUES ($1) RETURNING token",
    "account" => "SELECT account FROM session WHERE token = $1",
    "items" => "SELECT id, text FROM item WHERE account = $1 ORDER BY id DESC LIMIT 20",
    "add" => "INSERT INTO item (account, text) VALUES ($1, $2) RETURNING id, text"
  }.freeze

  def initialize
    # It connects at the first question: worker processes share no connection.
    @pool = ConnectionPool.new(size: Contract.pool_size) { connected }
  end

  # A row of `world`.
  def row(id)
    rows([id]).first
  end

  # Rows of `world`, each by a statement of its own.
  def rows(ids)
    @pool.with { |connection| ids.map { |id| connection.exec_prepared("one", [id]).first } }
  end

  # Reads each row, and gives it its new number.
  def change(changes)
    @pool.with do |connection|
      found = changes.map { |id, _| connection.exec_prepared("one", [id]).first }
      connection.transaction { changes.each { |change| connection.exec_prepared("change", change) } }
      found.zip(changes) { |row, (_, number)| row["number"] = number }
      found
    end
  end

  # Rows of `cached_world`, which are read once.
  def cached(ids)
    @cached ||= @pool.with do |connection|
      connection.exec("SELECT id, number FROM cached_world").to_h { |row| [row["id"], row] }
    end
    @cached.values_at(*ids)
  end

  # The table `fortune`.
  def fortunes
    ask("fortunes")
  end

  # A new token; nil if name and password do not match.
  def login(name, password)
    account = ask("login", name, password).first
    account && ask("session", account["id"]).first["token"]
  end

  # The account of a token; nil if there is no such token.
  def account(token)
    ask("account", token).first&.fetch("account")
  end

  # The newest items of an account.
  def items(account)
    ask("items", account)
  end

  # A new item of an account.
  def add(account, text)
    ask("add", account, text).first
  end

  private

  def ask(name, *values)
    @pool.with { |connection| connection.exec_prepared(name, values).to_a }
  end

  def connected
    connection = PG.connect(ENV.fetch("DATABASE_URL"))
    connection.type_map_for_results = PG::BasicTypeMapForResults.new(connection)
    STATEMENTS.each { |name, sql| connection.prepare(name, sql) }
    connection
  end
end
