// RESTinio with the contract `web`: an express router, whose handlers take a request and answer it
// when the database has, on the io_context that all threads of the trial run.

#include <restinio/all.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

using Router = restinio::router::express_router_t<>;
using Request = restinio::request_handle_t;
using Parameters = restinio::router::route_params_t;
using Query = restinio::query_string_params_t;

struct Traits : restinio::default_traits_t {
    using request_handler_t = Router;
};

std::unique_ptr<Router> routes(web::Store& store);
void add_pages(Router& router, web::Store& store);
void add_rows(Router& router, web::Store& store);
void add_session(Router& router, web::Store& store);

void serve(const web::Options& options) {
    restinio::asio_ns::io_context context;
    web::Store store(context);
    restinio::server_settings_t<Traits> settings;
    settings.address(options.host).port(options.port).request_handler(routes(store));
    if (options.tuned) {
        settings.max_pipelined_requests(20)
            .concurrent_accepts_count(options.threads)
            .socket_options_setter([](restinio::socket_options_t& socket) {
                socket.set_option(restinio::asio_ns::ip::tcp::no_delay(true));
            });
    }
    restinio::http_server_t<Traits> server(
        restinio::external_io_context(context), std::move(settings));
    restinio::asio_ns::post(context, [&server] { server.open_sync(); });
    wiretrial::in_threads(options.threads, [&context] { context.run(); });
}

restinio::request_handling_status_t answer(const Request& request,
                                           restinio::http_status_line_t status, const char* type,
                                           std::string body) {
    return request->create_response(std::move(status))
        .append_header(restinio::http_field::content_type, type)
        .set_body(std::move(body))
        .done();
}

restinio::request_handling_status_t refuse(const Request& request,
                                           restinio::http_status_line_t status) {
    return answer(request, std::move(status), web::JSON, web::json::NOTHING);
}

void fail(const Request& request, const web::Problem& problem) {
    answer(request, restinio::status_internal_server_error(), web::TEXT, problem.text);
}

/// Answers the request with what `write` makes of the value, when there is one.
template <typename Value, typename Write>
web::Then<Value> answers(const Request& request, Write write, const char* type = web::JSON,
                         restinio::http_status_line_t status = restinio::status_ok()) {
    return [request, write, type, status](web::Answer<Value> found) {
        if (const auto* const problem = std::get_if<web::Problem>(&found)) {
            fail(request, *problem);
            return;
        }
        answer(request, status, type, write(std::move(std::get<Value>(found))));
    };
}

/// A value of the query; empty where it has none.
std::string_view value(const Query& query, const char* name) {
    const auto found = query.get_param(name);
    return found ? std::string_view(found->data(), found->size()) : std::string_view();
}

Query query_of(const Request& request) {
    return restinio::parse_query(request->header().query());
}

/// The rows that a request is for.
std::vector<int> ids_of(const Request& request) {
    const Query query = query_of(request);
    return web::chain(web::number(value(query, "id")), web::clamped(value(query, "count")));
}

/// Calls `next` with the account whose token the request has; nobody is told so.
template <typename Next>
void for_account(web::Store& store, const Request& request, Next next) {
    const auto field =
        request->header().get_field_or(restinio::http_field::authorization, std::string());
    store.account(web::bearer(field), [request, next](web::Answer<std::optional<int>> found) {
        if (const auto* const problem = std::get_if<web::Problem>(&found)) {
            fail(request, *problem);
            return;
        }
        const std::optional<int> account = std::get<std::optional<int>>(found);
        if (account) {
            next(*account);
        } else {
            refuse(request, restinio::status_unauthorized());
        }
    });
}

std::unique_ptr<Router> routes(web::Store& store) {
    auto router = std::make_unique<Router>();
    add_pages(*router, store);
    add_rows(*router, store);
    add_session(*router, store);
    router->non_matched_request_handler([](const Request& request) {
        return request->create_response(restinio::status_not_found()).done();
    });
    return router;
}

void add_pages(Router& router, web::Store& store) {
    router.http_get("/plaintext", [](const Request& request, Parameters) {
        return answer(request, restinio::status_ok(), web::TEXT, web::GREETING);
    });
    router.http_get("/json", [](const Request& request, Parameters) {
        return answer(request, restinio::status_ok(), web::JSON, web::json::message());
    });
    router.http_get("/fortunes", [&store](const Request& request, Parameters) {
        store.fortunes(answers<std::vector<web::Fortune>>(
            request, [](std::vector<web::Fortune> found) { return web::page(std::move(found)); },
            web::HTML));
        return restinio::request_accepted();
    });
}

void add_rows(Router& router, web::Store& store) {
    const auto listed = [](const std::vector<web::Row>& found) { return web::json::list(found); };
    router.http_get("/db", [&store](const Request& request, Parameters) {
        const Query query = query_of(request);
        store.row(web::number(value(query, "id")),
                  answers<web::Row>(
                      request, [](const web::Row& found) { return web::json::one(found); }));
        return restinio::request_accepted();
    });
    router.http_get("/queries", [&store, listed](const Request& request, Parameters) {
        store.rows(ids_of(request), answers<std::vector<web::Row>>(request, listed));
        return restinio::request_accepted();
    });
    router.http_get("/updates", [&store, listed](const Request& request, Parameters) {
        const Query query = query_of(request);
        store.change(
            web::changes(value(query, "id"), value(query, "count"), value(query, "number")),
            answers<std::vector<web::Row>>(request, listed));
        return restinio::request_accepted();
    });
    router.http_get("/cached", [&store, listed](const Request& request, Parameters) {
        store.cached(ids_of(request), answers<std::vector<web::Row>>(request, listed));
        return restinio::request_accepted();
    });
}

void add_session(Router& router, web::Store& store) {
    router.http_post("/login", [&store](const Request& request, Parameters) {
        const auto said = web::json::login(request->body());
        if (!said) {
            return refuse(request, restinio::status_bad_request());
        }
        using Token = std::optional<std::string>;
        store.login(said->name, said->password, [request](web::Answer<Token> found) {
            if (const auto* const problem = std::get_if<web::Problem>(&found)) {
                fail(request, *problem);
                return;
            }
            const Token& token = std::get<Token>(found);
            if (token) {
                answer(request, restinio::status_ok(), web::JSON, web::json::token(*token));
            } else {
                refuse(request, restinio::status_unauthorized());
            }
        });
        return restinio::request_accepted();
    });
    router.http_get("/items", [&store](const Request& request, Parameters) {
        for_account(store, request, [&store, request](int account) {
            store.items(account, answers<std::vector<web::Item>>(
                                     request, [](const std::vector<web::Item>& found) {
                                         return web::json::list(found);
                                     }));
        });
        return restinio::request_accepted();
    });
    router.http_post("/items", [&store](const Request& request, Parameters) {
        for_account(store, request, [&store, request](int account) {
            const auto said = web::json::text(request->body());
            if (!said) {
                refuse(request, restinio::status_bad_request());
                return;
            }
            store.add(account, *said,
                      answers<web::Item>(
                          request, [](const web::Item& found) { return web::json::one(found); },
                          web::JSON, restinio::status_created()));
        });
        return restinio::request_accepted();
    });
}

}  // namespace

int main(int argc, char** argv) {
    const std::string version = std::to_string(RESTINIO_VERSION_MAJOR) + "." +
                                std::to_string(RESTINIO_VERSION_MINOR) + "." +
                                std::to_string(RESTINIO_VERSION_PATCH);
    return web::run(argc, argv, version, serve);
}
