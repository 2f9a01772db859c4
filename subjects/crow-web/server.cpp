// Crow with the contract `web`. A handler waits on its own thread until the database has answered:
// each of Crow's threads has a connection of its own, and a small loop on which it waits for that.

#include <crow.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "shared/web-cpp/contract.hpp"
#include "shared/web-cpp/program.hpp"
#include "shared/web-cpp/store.hpp"

namespace {

namespace web = wiretrial::web;

using crow::HTTPMethod;
using crow::json::wvalue;
using Account = std::optional<int>;
using Token = std::optional<std::string>;

const char PAGE[] =
    "<!DOCTYPE html>\n<html>\n<head><title>Fortunes</title></head>\n<body>\n<table>\n"
    "<tr><th>id</th><th>message</th></tr>\n"
    "{{#rows}}<tr><td>{{id}}</td><td>{{message}}</td></tr>{{/rows}}\n"
    "</table>\n</body>\n</html>\n";

/// The tables, as one thread has them.
struct Tables {
    asio::io_context context{1};
    // Between two questions there is nothing to wait for, and still it goes on.
    asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
    web::Store store{context, 1};
};

/// Those of this thread: it connects when it asks for the first time.
Tables& tables() {
    thread_local Tables own;
    return own;
}

/// Has `ask` ask the tables, and waits for the answer. Throws where there is none.
template <typename Value, typename Ask>
Value waited(Ask ask) {
    Tables& own = tables();
    std::optional<web::Answer<Value>> answer;
    ask(own.store, [&answer](web::Answer<Value> found) { answer = std::move(found); });
    while (!answer) {
        own.context.run_one();
    }
    if (const auto* const problem = std::get_if<web::Problem>(&*answer)) {
        throw std::runtime_error(problem->text);
    }
    return std::move(std::get<Value>(*answer));
}

void add_pages(crow::SimpleApp& app);
void add_rows(crow::SimpleApp& app);
void add_session(crow::SimpleApp& app);

void serve(const web::Options& options) {
    crow::SimpleApp app;
    add_pages(app);
    add_rows(app);
    add_session(app);
    // One thread more than those that answer: Crow keeps one of them for accepting only.
    const unsigned answering = options.tuned ? web::Store::pool() : options.threads;
    app.bindaddr(options.host).port(options.port).concurrency(answering + 1);
    if (options.tuned) {
        app.loglevel(crow::LogLevel::Warning);
    }
    app.run();
}

crow::response told(const char* type, std::string body) {
    crow::response reply(200, std::move(body));
    reply.set_header("Content-Type", type);
    return reply;
}

crow::response refused(int status) {
    return crow::response(status, wvalue::empty_object());
}

wvalue of(const web::Row& row) {
    wvalue made;
    made["id"] = row.id;
    made["number"] = row.number;
    return made;
}

wvalue of(const web::Item& item) {
    wvalue made;
    made["id"] = item.id;
    made["text"] = item.text;
    return made;
}

wvalue of(const web::Fortune& fortune) {
    wvalue made;
    made["id"] = fortune.id;
    made["message"] = fortune.message;
    return made;
}

template <typename One>
wvalue list_of(const std::vector<One>& found) {
    wvalue::list made;
    made.reserve(found.size());
    for (const One& one : found) {
        made.push_back(of(one));
    }
    wvalue told;
    told = std::move(made);
    return told;
}

/// A value of the query; empty where it has none.
std::string_view value(const crow::request& request, const char* name) {
    const char* const found = request.url_params.get(name);
    return found != nullptr ? std::string_view(found) : std::string_view();
}

/// The rows that a request is for.
std::vector<int> ids_of(const crow::request& request) {
    return web::chain(web::number(value(request, "id")), web::clamped(value(request, "count")));
}

/// The member of text that a body has under this name.
std::optional<std::string> member(const crow::json::rvalue& said, const char* name) {
    if (!said || said.t() != crow::json::type::Object || !said.has(name) ||
        said[name].t() != crow::json::type::String) {
        return std::nullopt;
    }
    return std::string(said[name].s());
}

/// Whose token the request has; none: nobody's.
Account account_of(const crow::request& request) {
    const std::string token = web::bearer(request.get_header_value("Authorization"));
    return waited<Account>([&token](web::Store& store, auto then) { store.account(token, then); });
}

void add_pages(crow::SimpleApp& app) {
    CROW_ROUTE(app, "/plaintext")([] { return told(web::TEXT, web::GREETING); });
    CROW_ROUTE(app, "/json")([] {
        wvalue made;
        made["message"] = web::GREETING;
        return crow::response(200, std::move(made));
    });
    CROW_ROUTE(app, "/fortunes")([page = crow::mustache::compile(PAGE)] {
        auto found = waited<std::vector<web::Fortune>>(
            [](web::Store& store, auto then) { store.fortunes(then); });
        crow::mustache::context shown;
        shown["rows"] = list_of(web::with_added(std::move(found)));
        return told(web::HTML, page.render_string(shown));
    });
}

void add_rows(crow::SimpleApp& app) {
    using Rows = std::vector<web::Row>;
    CROW_ROUTE(app, "/db")([](const crow::request& request) {
        const int id = web::number(value(request, "id"));
        const auto found =
            waited<web::Row>([id](web::Store& store, auto then) { store.row(id, then); });
        return crow::response(200, of(found));
    });
    CROW_ROUTE(app, "/queries")([](const crow::request& request) {
        const auto ids = ids_of(request);
        const auto found =
            waited<Rows>([&ids](web::Store& store, auto then) { store.rows(ids, then); });
        return crow::response(200, list_of(found));
    });
    CROW_ROUTE(app, "/updates")([](const crow::request& request) {
        const auto changes = web::changes(value(request, "id"), value(request, "count"),
                                          value(request, "number"));
        const auto found =
            waited<Rows>([&changes](web::Store& store, auto then) { store.change(changes, then); });
        return crow::response(200, list_of(found));
    });
    CROW_ROUTE(app, "/cached")([](const crow::request& request) {
        const auto ids = ids_of(request);
        const auto found =
            waited<Rows>([&ids](web::Store& store, auto then) { store.cached(ids, then); });
        return crow::response(200, list_of(found));
    });
}

void add_session(crow::SimpleApp& app) {
    CROW_ROUTE(app, "/login").methods(HTTPMethod::Post)([](const crow::request& request) {
        const auto said = crow::json::load(request.body);
        const auto name = member(said, "name");
        const auto password = member(said, "password");
        if (!name || !password) {
            return refused(400);
        }
        const Token token = waited<Token>([&name, &password](web::Store& store, auto then) {
            store.login(*name, *password, then);
        });
        if (!token) {
            return refused(401);
        }
        wvalue made;
        made["token"] = *token;
        return crow::response(200, std::move(made));
    });
    CROW_ROUTE(app, "/items").methods(HTTPMethod::Get)([](const crow::request& request) {
        const Account account = account_of(request);
        if (!account) {
            return refused(401);
        }
        const auto found = waited<std::vector<web::Item>>(
            [&account](web::Store& store, auto then) { store.items(*account, then); });
        return crow::response(200, list_of(found));
    });
    CROW_ROUTE(app, "/items").methods(HTTPMethod::Post)([](const crow::request& request) {
        const Account account = account_of(request);
        if (!account) {
            return refused(401);
        }
        const auto text = member(crow::json::load(request.body), "text");
        if (!text) {
            return refused(400);
        }
        const auto made = waited<web::Item>([&account, &text](web::Store& store, auto then) {
            store.add(*account, *text, then);
        });
        return crow::response(201, of(made));
    });
}

}  // namespace

int main(int argc, char** argv) {
    return web::run(argc, argv, CROW_VERSION, serve);
}
