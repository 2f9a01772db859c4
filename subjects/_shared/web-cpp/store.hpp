// The tables of the contract `web`, asked without waiting: the same for every C++ framework.
//
// Knows each statement and what its rows mean; must not know HTTP. Whoever asks names a function
// that is called with the answer, on a thread of the io_context. It may be used from any thread.

#pragma once

#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "contract.hpp"
#include "links.hpp"

namespace wiretrial::web {

/// A value, or why there is none.
template <typename Value>
using Answer = std::variant<Value, Problem>;

/// Is told the answer.
template <typename Value>
using Then = std::function<void(Answer<Value>)>;

namespace statements {

constexpr Statement ONE{"one", "SELECT id, number FROM world WHERE id = $1"};
constexpr Statement CHANGE{"change", "UPDATE world SET number = $2 WHERE id = $1"};
constexpr Statement CACHED{"cached", "SELECT id, number FROM cached_world"};
constexpr Statement FORTUNES{"fortunes", "SELECT id, message FROM fortune"};
constexpr Statement LOGIN{"login",
                          "SELECT id FROM account WHERE name = $1"
                          " AND digest = encode(sha256(convert_to($2, 'UTF8')), 'hex')"};
constexpr Statement SESSION{"session", "INSERT INTO session (account) VALUES ($1) RETURNING token"};
constexpr Statement ACCOUNT{"account", "SELECT account FROM session WHERE token = $1"};
constexpr Statement ITEMS{
    "items", "SELECT id, text FROM item WHERE account = $1 ORDER BY id DESC LIMIT 20"};
constexpr Statement ADD{"add", "INSERT INTO item (account, text) VALUES ($1, $2) RETURNING id"};

}  // namespace statements

class Store {
public:
    /// Connects so often, by default as the environment says. Throws where there is no database.
    explicit Store(asio::io_context& context, unsigned connections = pool())
        : links_(context, required("DATABASE_URL"), connections,
                 {&statements::ONE, &statements::CHANGE, &statements::CACHED, &statements::FORTUNES,
                  &statements::LOGIN, &statements::SESSION, &statements::ACCOUNT,
                  &statements::ITEMS, &statements::ADD}) {}

    /// The most connections that all of the process may have together.
    static unsigned pool() {
        const int found = std::atoi(required("DATABASE_POOL"));
        if (found < 1) {
            throw std::runtime_error("DATABASE_POOL: at least one connection is needed");
        }
        return static_cast<unsigned>(found);
    }

    /// A row of `world`.
    void row(int id, Then<Row> then) {
        ask<Row>({one(id)}, std::move(then), [](const Results& results) -> Answer<Row> {
            if (count(results[0]) == 0) {
                return Problem{"there is no such row"};
            }
            return Row{integer(results[0], 0, 0), integer(results[0], 0, 1)};
        });
    }

    /// Rows of `world`, each by a statement of its own; all of them are sent together.
    void rows(const std::vector<int>& ids, Then<std::vector<Row>> then) {
        std::vector<Call> calls;
        calls.reserve(ids.size());
        for (const int id : ids) {
            calls.push_back(one(id));
        }
        ask<std::vector<Row>>(
            std::move(calls), std::move(then),
            [](const Results& results) -> Answer<std::vector<Row>> {
                std::vector<Row> found;
                found.reserve(results.size());
                for (const Result& one : results) {
                    if (count(one) == 0) {
                        return Problem{"there is no such row"};
                    }
                    found.push_back({integer(one, 0, 0), integer(one, 0, 1)});
                }
                return found;
            });
    }

    /// Reads each row, and gives it its new number: all of it in one transaction.
    void change(std::vector<Row> changes, Then<std::vector<Row>> then) {
        std::vector<Call> calls;
        calls.reserve(2 * changes.size());
        for (const Row& row : changes) {
            calls.push_back(one(row.id));
        }
        for (const Row& row : changes) {
            calls.push_back(
                {&statements::CHANGE, {std::to_string(row.id), std::to_string(row.number)}});
        }
        ask<std::vector<Row>>(std::move(calls), std::move(then),
                              [changes = std::move(changes)](const Results&)
                                  -> Answer<std::vector<Row>> { return changes; });
    }

    /// Rows of `cached_world`, which are read once.
    void cached(std::vector<int> ids, Then<std::vector<Row>> then) {
        kept([ids = std::move(ids), then = std::move(then)](Answer<Numbers> answer) {
            if (const auto* const problem = std::get_if<Problem>(&answer)) {
                then(*problem);
                return;
            }
            const std::vector<int>& numbers = *std::get<Numbers>(answer);
            std::vector<Row> found;
            found.reserve(ids.size());
            for (const int id : ids) {
                found.push_back({id, numbers[static_cast<std::size_t>(id)]});
            }
            then(std::move(found));
        });
    }

    /// The rows of the page, as the table has them.
    void fortunes(Then<std::vector<Fortune>> then) {
        ask<std::vector<Fortune>>(
            {{&statements::FORTUNES, {}}}, std::move(then),
            [](const Results& results) -> Answer<std::vector<Fortune>> {
                return all<Fortune>(results[0]);
            });
    }

    /// A new token; none where name and password do not fit.
    void login(const std::string& name, const std::string& password,
               Then<std::optional<std::string>> then) {
        using Token = std::optional<std::string>;
        links_.ask(
            {{{&statements::LOGIN, {name, password}}}, [this, then](Outcome outcome) {
                 if (const auto* const problem = std::get_if<Problem>(&outcome)) {
                     then(*problem);
                     return;
                 }
                 const Results& results = std::get<Results>(outcome);
                 if (count(results[0]) == 0) {
                     then(Token());
                     return;
                 }
                 ask<Token>({{&statements::SESSION, {text(results[0], 0, 0)}}}, then,
                            [](const Results& made) -> Answer<Token> {
                                return Token(text(made[0], 0, 0));
                            });
             }});
    }

    /// Whose token it is; none: nobody's.
    void account(const std::string& token, Then<std::optional<int>> then) {
        using Account = std::optional<int>;
        ask<Account>({{&statements::ACCOUNT, {token}}}, std::move(then),
                     [](const Results& results) -> Answer<Account> {
                         if (count(results[0]) == 0) {
                             return Account();
                         }
                         return Account(integer(results[0], 0, 0));
                     });
    }

    /// The newest items of an account.
    void items(int account, Then<std::vector<Item>> then) {
        ask<std::vector<Item>>({{&statements::ITEMS, {std::to_string(account)}}}, std::move(then),
                               [](const Results& results) -> Answer<std::vector<Item>> {
                                   return all<Item>(results[0]);
                               });
    }

    /// Makes a new item of an account.
    void add(int account, const std::string& said, Then<Item> then) {
        ask<Item>({{&statements::ADD, {std::to_string(account), said}}}, std::move(then),
                  [said](const Results& results) -> Answer<Item> {
                      return Item{integer(results[0], 0, 0), said};
                  });
    }

private:
    using Results = std::vector<Result>;
    using Numbers = std::shared_ptr<const std::vector<int>>;

    /// Asks, and makes a value of the results.
    template <typename Value, typename Read>
    void ask(std::vector<Call> calls, Then<Value> then, Read read) {
        links_.ask({std::move(calls),
                    [then = std::move(then), read = std::move(read)](Outcome outcome) {
                        if (const auto* const problem = std::get_if<Problem>(&outcome)) {
                            then(*problem);
                            return;
                        }
                        then(read(std::get<Results>(outcome)));
                    }});
    }

    /// The number of each row of `cached_world` by its id. The first request has it read while
    /// others wait; where that fails, all of them are told, and the next one has it read again.
    void kept(Then<Numbers> then) {
        Numbers known;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            known = kept_;
            if (!known) {
                waiting_.push_back(std::move(then));
                if (waiting_.size() > 1) {
                    return;
                }
            }
        }
        if (known) {
            then(std::move(known));
            return;
        }
        ask<Numbers>(
            {{&statements::CACHED, {}}},
            [this](Answer<Numbers> answer) {
                std::vector<Then<Numbers>> told;
                {
                    const std::lock_guard<std::mutex> lock(mutex_);
                    if (const auto* const found = std::get_if<Numbers>(&answer)) {
                        kept_ = *found;
                    }
                    told.swap(waiting_);
                }
                for (const Then<Numbers>& one : told) {
                    one(answer);
                }
            },
            [](const Results& results) -> Answer<Numbers> {
                std::vector<int> numbers(ROWS + 1);
                for (int row = 0; row < count(results[0]); ++row) {
                    numbers.at(static_cast<std::size_t>(integer(results[0], row, 0))) =
                        integer(results[0], row, 1);
                }
                return Numbers(std::make_shared<const std::vector<int>>(std::move(numbers)));
            });
    }

    static Call one(int id) {
        return {&statements::ONE, {std::to_string(id)}};
    }

    static int count(const Result& result) {
        return PQntuples(result.get());
    }

    static std::string text(const Result& result, int row, int column) {
        return std::string(PQgetvalue(result.get(), row, column),
                           static_cast<std::size_t>(PQgetlength(result.get(), row, column)));
    }

    static int integer(const Result& result, int row, int column) {
        return std::atoi(PQgetvalue(result.get(), row, column));
    }

    /// Rows of an id and a text.
    template <typename One>
    static std::vector<One> all(const Result& result) {
        std::vector<One> found;
        found.reserve(static_cast<std::size_t>(count(result)));
        for (int row = 0; row < count(result); ++row) {
            found.push_back({integer(result, row, 0), text(result, row, 1)});
        }
        return found;
    }

    static const char* required(const char* name) {
        const char* const found = std::getenv(name);
        if (found == nullptr) {
            throw std::runtime_error(std::string(name) + " is not in the environment");
        }
        return found;
    }

    std::mutex mutex_;
    Numbers kept_;
    std::vector<Then<Numbers>> waiting_;
    Links links_;
};

}  // namespace wiretrial::web
