// The statements, and the clients that send them.

#include "tables.hpp"

#include <drogon/HttpAppFramework.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <regex>
#include <stdexcept>
#include <utility>

#include "shared/web-cpp/program.hpp"

namespace wiretrial::tables {
namespace {

using drogon::Task;
using drogon::orm::DbClientPtr;
using drogon::orm::PostgresConfig;
using drogon::orm::Result;
using Numbers = std::shared_ptr<const std::vector<int>>;

const std::string ONE = "SELECT id, number FROM world WHERE id = $1";
const std::string CHANGE = "UPDATE world SET number = $2 WHERE id = $1";
const std::string CACHED = "SELECT id, number FROM cached_world";
const std::string FORTUNES = "SELECT id, message FROM fortune";
const std::string LOGIN =
    "SELECT id FROM account WHERE name = $1"
    " AND digest = encode(sha256(convert_to($2, 'UTF8')), 'hex')";
const std::string SESSION = "INSERT INTO session (account) VALUES ($1) RETURNING token";
const std::string ACCOUNT = "SELECT account FROM session WHERE token = $1";
const std::string ITEMS =
    "SELECT id, text FROM item WHERE account = $1 ORDER BY id DESC LIMIT 20";
const std::string ADD = "INSERT INTO item (account, text) VALUES ($1, $2) RETURNING id";

/// The second client of `tuned`, which only reads: statements sent together share a transaction.
constexpr char READER[] = "reader";

bool is_fast = false;
std::atomic<Numbers> kept;  // the number of each row of `cached_world` by its id

std::string required(const char* name) {
    const char* const found = std::getenv(name);
    if (found == nullptr) {
        throw std::runtime_error(std::string(name) + " is not in the environment");
    }
    return found;
}

/// Where the database is, as Drogon wants to be told it.
PostgresConfig database() {
    static const std::regex PARTS("postgresql://([^:]+):([^@]+)@([^:]+):([0-9]+)/(.+)");
    const std::string url = required("DATABASE_URL");
    std::smatch found;
    if (!std::regex_match(url, found, PARTS)) {
        throw std::runtime_error("DATABASE_URL: not postgresql://USER:PASSWORD@HOST:PORT/NAME");
    }
    PostgresConfig made{};
    made.username = found[1];
    made.password = found[2];
    made.host = found[3];
    made.port = static_cast<unsigned short>(std::stoul(found[4]));
    made.databaseName = found[5];
    made.connectionNumber = 1;
    made.name = "default";
    made.timeout = -1.0;
    return made;
}

DbClientPtr client() {
    return is_fast ? drogon::app().getFastDbClient() : drogon::app().getDbClient();
}

DbClientPtr reader() {
    return is_fast ? drogon::app().getFastDbClient(READER) : drogon::app().getDbClient();
}

Task<> set(web::Row row) {
    co_await client()->execSqlCoro(CHANGE, row.id, row.number);
}

/// Rows of an id and a text.
template <typename One>
std::vector<One> all(const Result& result) {
    std::vector<One> found;
    found.reserve(result.size());
    for (const auto& one : result) {
        found.push_back({one[0].as<int>(), one[1].as<std::string>()});
    }
    return found;
}

}  // namespace

void connect(unsigned threads, bool tuned) {
    PostgresConfig config = database();
    is_fast = tuned;
    if (tuned) {
        const auto pool = web::positive<unsigned>(required("DATABASE_POOL"));
        // Drogon has both clients on each loop: those of the threads, and its main one.
        const unsigned each = pool.value_or(0) / (2 * (threads + 1));
        if (each == 0) {
            throw std::runtime_error("DATABASE_POOL: too few connections for the threads");
        }
        config.isFast = true;
        config.connectionNumber = each;
        drogon::app().addDbClient(config);
        config.name = READER;
        config.autoBatch = true;
    }
    drogon::app().addDbClient(config);
}

Task<web::Row> row(int id) {
    const Result found = co_await reader()->execSqlCoro(ONE, id);
    const auto one = found.at(0);
    co_return web::Row{one[0].as<int>(), one[1].as<int>()};
}

Task<std::vector<web::Row>> rows(std::vector<int> ids) {
    std::vector<Task<web::Row>> asked;
    asked.reserve(ids.size());
    for (const int id : ids) {
        asked.push_back(row(id));
    }
    co_return co_await drogon::when_all(std::move(asked));
}

Task<> change(std::vector<web::Row> changes) {
    std::vector<int> ids;
    std::vector<Task<>> made;
    ids.reserve(changes.size());
    made.reserve(changes.size());
    for (const web::Row& row : changes) {
        ids.push_back(row.id);
        made.push_back(set(row));
    }
    co_await rows(std::move(ids));
    co_await drogon::when_all(std::move(made));
}

Task<std::vector<web::Row>> cached(std::vector<int> ids) {
    Numbers numbers = kept.load();
    if (!numbers) {
        const Result found = co_await reader()->execSqlCoro(CACHED);
        auto read = std::make_shared<std::vector<int>>(web::ROWS + 1);
        for (const auto& one : found) {
            read->at(one[0].as<std::size_t>()) = one[1].as<int>();
        }
        numbers = std::move(read);
        kept.store(numbers);
    }
    std::vector<web::Row> found;
    found.reserve(ids.size());
    for (const int id : ids) {
        found.push_back({id, (*numbers)[static_cast<std::size_t>(id)]});
    }
    co_return found;
}

Task<std::vector<web::Fortune>> fortunes() {
    co_return all<web::Fortune>(co_await reader()->execSqlCoro(FORTUNES));
}

Task<std::optional<std::string>> login(std::string name, std::string password) {
    const Result found = co_await client()->execSqlCoro(LOGIN, name, password);
    if (found.empty()) {
        co_return std::nullopt;
    }
    const Result made = co_await client()->execSqlCoro(SESSION, found[0][0].as<int>());
    co_return made.at(0)[0].as<std::string>();
}

Task<std::optional<int>> account(std::string token) {
    const Result found = co_await client()->execSqlCoro(ACCOUNT, token);
    if (found.empty()) {
        co_return std::nullopt;
    }
    co_return found[0][0].as<int>();
}

Task<std::vector<web::Item>> items(int account) {
    co_return all<web::Item>(co_await client()->execSqlCoro(ITEMS, account));
}

Task<web::Item> add(int account, std::string text) {
    const Result made = co_await client()->execSqlCoro(ADD, account, text);
    co_return web::Item{made.at(0)[0].as<int>(), text};
}

}  // namespace wiretrial::tables
