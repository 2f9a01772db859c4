# frozen_string_literal: true

# What the contract `web` says of rows, counts and connections, for every Ruby framework.
module Contract
  ROWS = 10_000
  STEP = 7919
  MOST = 100
  GREETING = "Hello, World!"
  ADDED_ID = 0
  ADDED_MESSAGE = "One more fortune, made while you wait."

  module_function

  # The ids, or the new numbers, of a request for `count` rows from `first` on.
  def chain(first, count)
    Array.new(count) { |place| (first - 1 + place * STEP) % ROWS + 1 }
  end

  # How many rows a request with this `count` is for: 1 if it is not a number.
  def clamped(count)
    Integer(count.to_s, 10, exception: false).to_i.clamp(1, MOST)
  end

  # The rows that a request's query is for.
  def ids(asked)
    chain(Integer(asked["id"]), clamped(asked["count"]))
  end

  # The rows that it changes, each with its new number.
  def changes(asked)
    rows = ids(asked)
    rows.zip(chain(Integer(asked["number"]), rows.size))
  end

  # Worker processes of the server, one for each thread of the trial.
  def processes
    Integer(ENV.fetch("WORKERS"))
  end

  # The connections of this process: all share those that the server may have.
  def pool_size
    [Integer(ENV.fetch("DATABASE_POOL")) / processes, 1].max
  end
end
