// µWebSockets 0.14: a Hub per thread, all listening on the same ports (SO_REUSEPORT), as the
// project's example multithreaded_echo.cpp does.

#include <uWS.h>

#include <stdexcept>
#include <string>

#include "shared/cpp-server/content.hpp"
#include "shared/cpp-server/options.hpp"
#include "shared/cpp-server/threads.hpp"

namespace {

using wiretrial::Options;
using Socket = uWS::WebSocket<uWS::SERVER>;

void listen(uWS::Hub& hub, const Options& options, int port, const uS::TLS::Context& tls = nullptr);

void serve_on_this_thread(const Options& options) {
    constexpr int no_extensions = 0;
    constexpr bool own_loop = false;
    uWS::Hub hub(no_extensions, own_loop, wiretrial::MAX_BODY);
    hub.onMessage([](Socket* socket, char* message, size_t length, uWS::OpCode code) {
        socket->send(message, length, code);
    });

    uS::TLS::Context tls = uS::TLS::createContext(options.cert, options.key);
    if (!tls) {
        throw std::runtime_error(options.cert + " and " + options.key + " don't fit");
    }
    listen(hub, options, options.port);
    listen(hub, options, options.tls_port, tls);
    hub.run();
}

void listen(uWS::Hub& hub, const Options& options, int port, const uS::TLS::Context& tls) {
    if (!hub.listen(options.host.c_str(), port, tls, uS::ListenOptions::REUSE_PORT)) {
        throw std::runtime_error("can't listen on port " + std::to_string(port));
    }
}

}  // namespace

int main(int argc, char** argv) {
    return wiretrial::run(argc, argv, UWS_VERSION, [](const Options& options) {
        wiretrial::in_threads(options.threads, [&options] { serve_on_this_thread(options); });
    });
}
