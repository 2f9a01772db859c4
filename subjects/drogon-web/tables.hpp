// The tables of the contract `web`, asked by Drogon's own client for PostgreSQL.
//
// Knows each statement and what its rows mean; must not know HTTP. Each question is a coroutine,
// which goes on where the client's loop runs. Drogon prepares each statement once on a connection.

#pragma once

#include <drogon/utils/coroutine.h>

#include <optional>
#include <string>
#include <vector>

#include "shared/web-cpp/contract.hpp"

namespace wiretrial::tables {

/// Has the framework make its clients when it runs. Throws where the environment names no database.
void connect(unsigned threads, bool tuned);

/// A row of `world`.
drogon::Task<web::Row> row(int id);

/// Rows of `world`, each by a statement of its own; none waits for another's answer.
drogon::Task<std::vector<web::Row>> rows(std::vector<int> ids);

/// Reads each row, and gives it its new number.
drogon::Task<> change(std::vector<web::Row> changes);

/// Rows of `cached_world`, which are read once.
drogon::Task<std::vector<web::Row>> cached(std::vector<int> ids);

/// The rows of the page, as the table has them.
drogon::Task<std::vector<web::Fortune>> fortunes();

/// A new token; none where name and password do not fit.
drogon::Task<std::optional<std::string>> login(std::string name, std::string password);

/// Whose token it is; none: nobody's.
drogon::Task<std::optional<int>> account(std::string token);

/// The newest items of an account.
drogon::Task<std::vector<web::Item>> items(int account);

/// Makes a new item of an account.
drogon::Task<web::Item> add(int account, std::string text);

}  // namespace wiretrial::tables
