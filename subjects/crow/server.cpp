// Crow as a subject: an app for HTTP and WebSocket and one for both inside TLS, the same routes in
// both.

#include <crow.h>

#include <string>

#include "shared/cpp-server/content.hpp"
#include "shared/cpp-server/options.hpp"
#include "shared/cpp-server/percent.hpp"

namespace {

void add_routes(crow::SimpleApp& app, std::chrono::milliseconds delay);
void add_echo(crow::SimpleApp& app);
void configure(crow::SimpleApp& app, const wiretrial::Options& options, std::uint16_t port);

void serve(const wiretrial::Options& options) {
    crow::SimpleApp plain;
    crow::SimpleApp secure;
    configure(plain, options, options.port);
    configure(secure, options, options.tls_port);
    secure.ssl_chainfile(options.cert, options.key);

    const auto second = secure.run_async();
    plain.run();
    secure.stop();
}

void configure(crow::SimpleApp& app, const wiretrial::Options& options, std::uint16_t port) {
    add_routes(app, options.delay);
    add_echo(app);
    // One thread more than are asked for: Crow keeps one of them for accepting only.
    app.bindaddr(options.host).port(port).concurrency(options.threads + 1);
    if (options.tuned) {
        app.loglevel(crow::LogLevel::Warning);
    }
}

void add_routes(crow::SimpleApp& app, std::chrono::milliseconds delay) {
    using crow::HTTPMethod;
    CROW_ROUTE(app, "/test").methods(HTTPMethod::Post)([delay](const crow::request& request) {
        return crow::response(wiretrial::TEXT, wiretrial::received(request.body, delay));
    });
    CROW_ROUTE(app, "/test/status")([] {
        return crow::response(wiretrial::TEXT, wiretrial::STATUS);
    });
    CROW_ROUTE(app, "/test/labels/<string>")([](const std::string& label) {
        return crow::response(wiretrial::TEXT, wiretrial::percent_decoded(label));
    });
    CROW_ROUTE(app, "/echo").methods(HTTPMethod::Post)([](const crow::request& request) {
        return crow::response(wiretrial::BYTES, request.body);
    });
    CROW_ROUTE(app, "/message")([] {
        return crow::response(wiretrial::JSON, wiretrial::MESSAGE);
    });
}

void add_echo(crow::SimpleApp& app) {
    CROW_WEBSOCKET_ROUTE(app, "/").onmessage(
        [](crow::websocket::connection& connection, const std::string& message, bool binary) {
            if (binary) {
                connection.send_binary(message);
            } else {
                connection.send_text(message);
            }
        });
}

}  // namespace

int main(int argc, char** argv) {
    return wiretrial::run(argc, argv, CROW_VERSION, serve);
}
