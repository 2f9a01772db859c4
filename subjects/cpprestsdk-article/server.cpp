// The C++ REST SDK as much code in circulation uses it: the handler waits for the body's task.
//
// Only the contract `rest`. What differs from `cpprestsdk` is that one line.

#include <cpprest/http_listener.h>
#include <cpprest/version.h>
#include <pplx/threadpool.h>
#include <unistd.h>

#include <string>

#include "shared/cpp-server/content.hpp"
#include "shared/cpp-server/options.hpp"

namespace {

using web::http::http_request;
using web::http::methods;
using web::http::status_codes;
using web::http::experimental::listener::http_listener;
using web::http::experimental::listener::http_listener_config;

void post(http_request request, std::chrono::milliseconds delay) {
    if (request.relative_uri().path() != "/test") {
        request.reply(status_codes::NotFound);
        return;
    }
    // A thread of the pool waits here for what another thread of the same pool must read.
    const std::string body = request.extract_string(true).get();
    request.reply(status_codes::OK, wiretrial::received(body, delay), wiretrial::TEXT);
}

void get(http_request request) {
    const auto path = request.relative_uri().path();
    const auto parts = web::uri::split_path(web::uri::decode(path));
    if (path == "/test/status") {
        request.reply(status_codes::OK, wiretrial::STATUS, wiretrial::TEXT);
    } else if (parts.size() == 3 && parts[0] == "test" && parts[1] == "labels") {
        request.reply(status_codes::OK, parts[2], wiretrial::TEXT);
    } else {
        request.reply(status_codes::NotFound);
    }
}

std::string address(const char* scheme, const std::string& host, std::uint16_t port) {
    return std::string(scheme) + "://" + host + ":" + std::to_string(port) + "/";
}

http_listener_config with_certificate(const wiretrial::Options& options) {
    http_listener_config config;
    config.set_ssl_context_callback([options](boost::asio::ssl::context& context) {
        context.use_certificate_chain_file(options.cert);
        context.use_private_key_file(options.key, boost::asio::ssl::context::pem);
    });
    return config;
}

void open(http_listener& listener, std::chrono::milliseconds delay) {
    listener.support(methods::POST, [delay](http_request request) { post(request, delay); });
    listener.support(methods::GET, get);
    listener.open().wait();
}

void serve(const wiretrial::Options& options) {
    crossplat::threadpool::initialize_with_threads(options.threads);
    http_listener plain(address("http", options.host, options.port));
    http_listener secure(address("https", options.host, options.tls_port),
                         with_certificate(options));
    open(plain, options.delay);
    open(secure, options.delay);
    pause();  // until a signal ends the process
}

}  // namespace

int main(int argc, char** argv) {
    const std::string version = std::to_string(CPPREST_VERSION_MAJOR) + "." +
                                std::to_string(CPPREST_VERSION_MINOR) + "." +
                                std::to_string(CPPREST_VERSION_REVISION);
    return wiretrial::run(argc, argv, version, serve);
}
