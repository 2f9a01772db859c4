// µWebSockets with the contract `web`: an App on each thread's loop, all of them listening on the
// same port, and one thread beside them on which the database is asked. What that has found out goes
// back to the loop of its request by Loop::defer, the one call that another thread may make.

#include <App.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "shared/cpp-server/threads.hpp"
#include "shared/web-cpp/contract.hpp"
#include "shared/web-cpp/json.hpp"
#include "shared/web-cpp/program.hpp"
#include "shared/web-cpp/store.hpp"

namespace {

namespace web = wiretrial::web;

using Response = uWS::HttpResponse<false>;
using Request = uWS::HttpRequest;
using Rows = std::vector<web::Row>;
using Items = std::vector<web::Item>;
using Fortunes = std::vector<web::Fortune>;
using Token = std::optional<std::string>;
using Account = std::optional<int>;

constexpr std::string_view OK = "200 OK";
constexpr std::string_view CREATED = "201 Created";
constexpr std::string_view BAD_REQUEST = "400 Bad Request";
constexpr std::string_view UNAUTHORIZED = "401 Unauthorized";
constexpr std::string_view FAILED = "500 Internal Server Error";

/// A request that is answered later. Copies are of the same request.
class Reply {
public:
    /// On the loop of the request, within its handler.
    explicit Reply(Response* response)
        : response_(response), loop_(uWS::Loop::get()), open_(std::make_shared<bool>(true)) {
        response->onAborted([open = open_] { *open = false; });
    }

    /// Answers, on the loop of the request. Who has gone away is told nothing.
    void say(std::string_view status, std::string_view type, std::string_view body) const {
        if (!*open_) {
            return;
        }
        response_->cork([this, status, type, body] {
            response_->writeStatus(status)->writeHeader("Content-Type", type)->end(body);
        });
    }

    void refuse(std::string_view status) const {
        say(status, web::JSON, web::json::NOTHING);
    }

    /// From any thread: has this done on the loop of the request.
    template <typename Deed>
    void later(Deed deed) const {
        loop_->defer(std::move(deed));
    }

    /// From any thread.
    void fail(const web::Problem& problem) const {
        later([reply = *this, text = problem.text] { reply.say(FAILED, web::TEXT, text); });
    }

private:
    Response* response_;
    uWS::Loop* loop_;
    std::shared_ptr<bool> open_;  // read and written on the loop alone
};

void add_pages(uWS::App& app, web::Store& store);
void add_rows(uWS::App& app, web::Store& store);
void add_session(uWS::App& app, web::Store& store);

void serve_on_this_thread(const web::Options& options, web::Store& store) {
    uWS::App app;
    add_pages(app, store);
    add_rows(app, store);
    add_session(app, store);
    app.listen(options.host, options.port, [&options](auto* socket) {
        if (!socket) {
            throw std::runtime_error("can't listen on port " + std::to_string(options.port));
        }
    });
    uWS::run();
}

void serve(const web::Options& options) {
    asio::io_context context(1);
    web::Store store(context);
    const auto work = asio::make_work_guard(context);
    std::thread database([&context] {
        wiretrial::in_threads(1, [&context] { context.run(); });
    });
    wiretrial::in_threads(options.threads, [&] { serve_on_this_thread(options, store); });
    database.join();
}

/// Answers the request with what `write` makes of the value, when there is one.
template <typename Value, typename Write>
web::Then<Value> answers(const Reply& reply, Write write, std::string_view type = web::JSON,
                         std::string_view status = OK) {
    return [reply, write, type, status](web::Answer<Value> found) {
        if (const auto* const problem = std::get_if<web::Problem>(&found)) {
            reply.fail(*problem);
            return;
        }
        reply.later([reply, write, type, status, value = std::move(std::get<Value>(found))] {
            reply.say(status, type, write(value));
        });
    };
}

std::string listed(const Rows& found) {
    return web::json::list(found);
}

/// The rows that a request is for.
std::vector<int> ids_of(Request* request) {
    const int first = web::number(request->getQuery("id"));
    return web::chain(first, web::clamped(request->getQuery("count")));
}

std::string token_of(Request* request) {
    return web::bearer(request->getHeader("authorization"));
}

/// Calls `next` with the account whose token it is, on the database's thread; nobody is told so.
template <typename Next>
void for_account(web::Store& store, const Reply& reply, const std::string& token, Next next) {
    store.account(token, [reply, next](web::Answer<Account> found) {
        if (const auto* const problem = std::get_if<web::Problem>(&found)) {
            reply.fail(*problem);
            return;
        }
        if (const Account& account = std::get<Account>(found)) {
            next(*account);
        } else {
            reply.later([reply] { reply.refuse(UNAUTHORIZED); });
        }
    });
}

/// Collects the request's body, then calls `next` with it.
template <typename Next>
void with_body(Response* response, Next next) {
    response->onData([next, body = std::string()](std::string_view piece, bool last) mutable {
        body.append(piece);
        if (last) {
            next(body);
        }
    });
}

void add_pages(uWS::App& app, web::Store& store) {
    app.get("/plaintext", [](Response* response, Request*) {
        response->writeHeader("Content-Type", web::TEXT)->end(web::GREETING);
    });
    app.get("/json", [](Response* response, Request*) {
        response->writeHeader("Content-Type", web::JSON)->end(web::json::message());
    });
    app.get("/fortunes", [&store](Response* response, Request*) {
        const auto write = [](const Fortunes& found) { return web::page(found); };
        store.fortunes(answers<Fortunes>(Reply(response), write, web::HTML));
    });
}

void add_rows(uWS::App& app, web::Store& store) {
    app.get("/db", [&store](Response* response, Request* request) {
        const auto write = [](const web::Row& found) { return web::json::one(found); };
        store.row(web::number(request->getQuery("id")),
                  answers<web::Row>(Reply(response), write));
    });
    app.get("/queries", [&store](Response* response, Request* request) {
        store.rows(ids_of(request), answers<Rows>(Reply(response), listed));
    });
    app.get("/updates", [&store](Response* response, Request* request) {
        store.change(web::changes(request->getQuery("id"), request->getQuery("count"),
                                  request->getQuery("number")),
                     answers<Rows>(Reply(response), listed));
    });
    app.get("/cached", [&store](Response* response, Request* request) {
        store.cached(ids_of(request), answers<Rows>(Reply(response), listed));
    });
}

void add_session(uWS::App& app, web::Store& store) {
    app.post("/login", [&store](Response* response, Request*) {
        const Reply reply(response);
        with_body(response, [&store, reply](const std::string& body) {
            const auto said = web::json::login(body);
            if (!said) {
                reply.refuse(BAD_REQUEST);
                return;
            }
            store.login(said->name, said->password, [reply](web::Answer<Token> found) {
                if (const auto* const problem = std::get_if<web::Problem>(&found)) {
                    reply.fail(*problem);
                    return;
                }
                reply.later([reply, token = std::move(std::get<Token>(found))] {
                    if (token) {
                        reply.say(OK, web::JSON, web::json::token(*token));
                    } else {
                        reply.refuse(UNAUTHORIZED);
                    }
                });
            });
        });
    });
    app.get("/items", [&store](Response* response, Request* request) {
        const Reply reply(response);
        for_account(store, reply, token_of(request), [&store, reply](int account) {
            const auto write = [](const Items& found) { return web::json::list(found); };
            store.items(account, answers<Items>(reply, write));
        });
    });
    app.post("/items", [&store](Response* response, Request* request) {
        const Reply reply(response);
        with_body(response, [&store, reply, token = token_of(request)](const std::string& body) {
            // Who has no account is told so before it is looked at what was sent.
            const auto said = web::json::text(body);
            for_account(store, reply, token, [&store, reply, said](int account) {
                if (!said) {
                    reply.later([reply] { reply.refuse(BAD_REQUEST); });
                    return;
                }
                const auto write = [](const web::Item& found) { return web::json::one(found); };
                store.add(account, *said, answers<web::Item>(reply, write, web::JSON, CREATED));
            });
        });
    });
}

}  // namespace

int main(int argc, char** argv) {
    return web::run(argc, argv, UWS_VERSION, serve);
}
