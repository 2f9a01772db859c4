// µWebSockets: an App for plain connections and one for TLS on each thread's loop, all threads
// listening on the same ports (SO_REUSEPORT), as its examples EchoServer and EchoServerThreaded do.

#include <App.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "shared/cpp-server/content.hpp"
#include "shared/cpp-server/options.hpp"
#include "shared/cpp-server/percent.hpp"
#include "shared/cpp-server/threads.hpp"

namespace {

using wiretrial::Options;

struct PerSocketData {};

constexpr std::string_view ROOM = "room";

/// Whether messages are compressed, as the example EchoServer does it. Off where nobody asks.
bool compresses() {
    return std::getenv("DEFLATE") != nullptr;
}

template <typename App>
void add_routes(App& app, const Options& options);

template <typename App>
void listen(App& app, const Options& options, int port);

template <typename Response, typename Reply>
void with_body(Response* response, Reply reply);

void serve_on_this_thread(const Options& options) {
    uWS::App plain;
    add_routes(plain, options);
    listen(plain, options, options.port);

    uWS::SSLApp secure({
        .key_file_name = options.key.c_str(),
        .cert_file_name = options.cert.c_str(),
    });
    if (secure.constructorFailed()) {
        throw std::runtime_error(options.cert + " and " + options.key + " don't fit");
    }
    add_routes(secure, options);
    listen(secure, options, options.tls_port);

    uWS::run();
}

/// What all WebSockets have in common.
template <typename App>
auto sockets() {
    return typename App::template WebSocketBehavior<PerSocketData>{
        .compression = compresses()
            ? uWS::CompressOptions(uWS::DEDICATED_COMPRESSOR | uWS::DEDICATED_DECOMPRESSOR)
            : uWS::DISABLED,
        .maxPayloadLength = wiretrial::MAX_BODY,
        .idleTimeout = 0,
        // What is over this limit is dropped; an answer must not be.
        .maxBackpressure = 8 * wiretrial::MAX_BODY,
        // With no idle timeout there is nothing that a ping could keep alive.
        .sendPingsAutomatically = false,
    };
}

template <typename App>
void add_routes(App& app, const Options& options) {
    auto echo = sockets<App>();
    echo.message = [compress = compresses()](auto* socket, std::string_view message,
                                             uWS::OpCode code) {
        socket->send(message, code, compress);
    };
    app.template ws<PerSocketData>("/", std::move(echo));

    // As the example Broadcast does it: a topic, of which a socket's own publish would leave it out.
    auto room = sockets<App>();
    room.open = [](auto* socket) { socket->subscribe(ROOM); };
    room.message = [&app, compress = compresses()](auto*, std::string_view message,
                                                   uWS::OpCode code) {
        app.publish(ROOM, message, code, compress);
    };
    app.template ws<PerSocketData>("/broadcast", std::move(room));

    app.post("/echo", [](auto* response, auto*) {
        with_body(response, [response](std::string body) {
            response->writeHeader("Content-Type", wiretrial::BYTES)->end(body);
        });
    });
    app.get("/message", [](auto* response, auto*) {
        response->writeHeader("Content-Type", wiretrial::JSON)->end(wiretrial::MESSAGE);
    });
    app.head("/message", [](auto* response, auto*) {
        // Not endWithoutBody(64): in this version that waits for a body, and ends the process.
        response->writeHeader("Content-Type", wiretrial::JSON)
            ->writeHeader("Content-Length", sizeof wiretrial::MESSAGE - 1)
            ->endWithoutBody();
    });

    app.post("/test", [delay = options.delay](auto* response, auto*) {
        with_body(response, [response, delay](std::string body) {
            response->writeHeader("Content-Type", wiretrial::TEXT)
                ->end(wiretrial::received(body, delay));
        });
    });
    app.get("/test/status", [](auto* response, auto*) {
        response->writeHeader("Content-Type", wiretrial::TEXT)->end(wiretrial::STATUS);
    });
    app.get("/test/labels/:label", [](auto* response, auto* request) {
        const std::string label(request->getParameter(0));
        response->writeHeader("Content-Type", wiretrial::TEXT)
            ->end(wiretrial::percent_decoded(label));
    });
}

template <typename App>
void listen(App& app, const Options& options, int port) {
    app.listen(options.host, port, [&](auto* socket) {
        if (!socket) {
            throw std::runtime_error("can't listen on port " + std::to_string(port));
        }
    });
}

/// Collects the request's body, then calls `reply` with it.
template <typename Response, typename Reply>
void with_body(Response* response, Reply reply) {
    // Demanded for every answer that is not given at once; what is captured here goes by itself.
    response->onAborted([] {});
    response->onData([reply, body = std::string()](std::string_view piece, bool last) mutable {
        body.append(piece);
        if (last) {
            reply(std::move(body));
        }
    });
}

}  // namespace

int main(int argc, char** argv) {
    return wiretrial::run(argc, argv, UWS_VERSION, [](const Options& options) {
        wiretrial::in_threads(options.threads, [&options] { serve_on_this_thread(options); });
    });
}
