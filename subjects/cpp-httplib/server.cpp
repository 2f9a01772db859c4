// cpp-httplib as a subject: a server for HTTP and one for HTTPS, the same routes in both.

#include <httplib.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <thread>

#include "shared/cpp-server/content.hpp"
#include "shared/cpp-server/options.hpp"

namespace {

void prepare(httplib::Server& server, const wiretrial::Options& options);
void tune(httplib::Server& server);
void open(httplib::Server& server, const std::string& host, int port);

void serve(const wiretrial::Options& options) {
    httplib::Server plain;
    httplib::SSLServer secure(options.cert.c_str(), options.key.c_str());
    if (!secure.is_valid()) {
        throw std::runtime_error("the certificate or its key can't be used");
    }
    prepare(plain, options);
    prepare(secure, options);
    open(plain, options.host, options.port);
    open(secure, options.host, options.tls_port);

    std::thread second([&secure] { secure.listen_after_bind(); });
    plain.listen_after_bind();
    second.join();
}

void prepare(httplib::Server& server, const wiretrial::Options& options) {
    const auto delay = options.delay;
    server.Post("/test", [delay](const httplib::Request& request, httplib::Response& response) {
        response.set_content(wiretrial::received(request.body, delay), wiretrial::TEXT);
    });
    server.Get("/test/status", [](const httplib::Request&, httplib::Response& response) {
        response.set_content(wiretrial::STATUS, wiretrial::TEXT);
    });
    server.Get("/test/labels/([^/]+)", [](const httplib::Request& request,
                                          httplib::Response& response) {
        response.set_content(request.matches[1].str(), wiretrial::TEXT);
    });
    server.Post("/echo", [](const httplib::Request& request, httplib::Response& response) {
        response.set_content(request.body, wiretrial::BYTES);
    });
    server.Get("/message", [](const httplib::Request&, httplib::Response& response) {
        response.set_content(wiretrial::MESSAGE, wiretrial::JSON);
    });

    const auto threads = options.threads;
    server.new_task_queue = [threads] { return new httplib::ThreadPool(threads); };
    server.set_payload_max_length(wiretrial::MAX_BODY);
    if (options.tuned) {
        tune(server);
    }
}

void tune(httplib::Server& server) {
    server.set_tcp_nodelay(true);
    server.set_keep_alive_max_count(std::numeric_limits<std::size_t>::max());
}

void open(httplib::Server& server, const std::string& host, int port) {
    if (!server.bind_to_port(host, port)) {
        throw std::runtime_error("can't listen on " + host + ":" + std::to_string(port));
    }
}

}  // namespace

int main(int argc, char** argv) {
    return wiretrial::run(argc, argv, CPPHTTPLIB_VERSION, serve);
}
