// RESTinio as a subject: a server for HTTP and WebSocket and one for both inside TLS, with the same
// routes, each on a pool of threads of its own.

#include <restinio/all.hpp>
#include <restinio/tls.hpp>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "shared/cpp-server/content.hpp"
#include "shared/cpp-server/options.hpp"
#include "sockets.hpp"

namespace {

using Router = restinio::router::express_router_t<>;
using Request = restinio::request_handle_t;
using Parameters = restinio::router::route_params_t;

struct Plain : restinio::default_traits_t {
    using request_handler_t = Router;
};
struct Secure : restinio::default_tls_traits_t {
    using request_handler_t = Router;
};

template <typename Traits>
std::unique_ptr<Router> routes(const wiretrial::Options& options);

template <typename Traits>
restinio::server_settings_t<Traits> settings(const wiretrial::Options& options,
                                             std::uint16_t port);

std::shared_ptr<restinio::asio_ns::ssl::context> certificate(const wiretrial::Options& options);

void serve(const wiretrial::Options& options) {
    auto secure_settings = settings<Secure>(options, options.tls_port);
    secure_settings.tls_context(certificate(options));

    const auto plain = restinio::run_async<Plain>(
        restinio::own_io_context(), settings<Plain>(options, options.port),
        options.threads);
    const auto secure = restinio::run_async<Secure>(
        restinio::own_io_context(), std::move(secure_settings), options.threads);
    pause();  // until a signal ends the process
}

auto answer(const Request& request, const char* type, std::string body) {
    return request->create_response()
        .append_header(restinio::http_field::content_type, type)
        .set_body(std::move(body))
        .done();
}

template <typename Traits>
std::unique_ptr<Router> routes(const wiretrial::Options& options) {
    auto router = std::make_unique<Router>();
    const auto delay = options.delay;

    router->http_post("/test", [delay](const Request& request, Parameters) {
        return answer(request, wiretrial::TEXT, wiretrial::received(request->body(), delay));
    });
    router->http_get("/test/status", [](const Request& request, Parameters) {
        return answer(request, wiretrial::TEXT, wiretrial::STATUS);
    });
    router->http_get("/test/labels/:label", [](const Request& request, Parameters parameters) {
        const auto label = restinio::utils::unescape_percent_encoding(parameters["label"]);
        return answer(request, wiretrial::TEXT, label);
    });
    router->http_post("/echo", [](const Request& request, Parameters) {
        return answer(request, wiretrial::BYTES, request->body());
    });
    router->http_get("/message", [](const Request& request, Parameters) {
        return answer(request, wiretrial::JSON, wiretrial::MESSAGE);
    });
    router->add_handler(
        restinio::http_method_head(), "/message", [](const Request& request, Parameters) {
            return request->create_response<restinio::user_controlled_output_t>()
                .append_header(restinio::http_field::content_type, wiretrial::JSON)
                .set_content_length(sizeof wiretrial::MESSAGE - 1)
                .done();
        });
    const auto sockets = std::make_shared<Sockets>();
    router->http_get("/", [sockets](const Request& request, Parameters) {
        return sockets->template accept<Traits>(request);
    });
    router->non_matched_request_handler([](const Request& request) {
        return request->create_response(restinio::status_not_found()).done();
    });
    return router;
}

template <typename Traits>
restinio::server_settings_t<Traits> settings(const wiretrial::Options& options,
                                             std::uint16_t port) {
    restinio::server_settings_t<Traits> made;
    made.address(options.host).port(port).request_handler(routes<Traits>(options));
    if (options.tuned) {
        made.max_pipelined_requests(20)
            .concurrent_accepts_count(options.threads)
            .socket_options_setter([](restinio::socket_options_t& socket) {
                socket.set_option(restinio::asio_ns::ip::tcp::no_delay(true));
            });
    }
    return made;
}

std::shared_ptr<restinio::asio_ns::ssl::context> certificate(const wiretrial::Options& options) {
    using Context = restinio::asio_ns::ssl::context;
    auto context = std::make_shared<Context>(Context::sslv23);
    context->set_options(Context::default_workarounds | Context::no_sslv2 |
                         Context::single_dh_use);
    context->use_certificate_chain_file(options.cert);
    context->use_private_key_file(options.key, Context::pem);
    return context;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string version = std::to_string(RESTINIO_VERSION_MAJOR) + "." +
                                std::to_string(RESTINIO_VERSION_MINOR) + "." +
                                std::to_string(RESTINIO_VERSION_PATCH);
    return wiretrial::run(argc, argv, version, serve);
}
