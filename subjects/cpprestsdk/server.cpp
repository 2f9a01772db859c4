// The C++ REST SDK as a subject: a listener for HTTP and one for HTTPS, the same routes in both.
//
// Nothing here waits for a task: bodies are read and answers are given in continuations, since the
// pool that would carry out the awaited task is the one whose threads would wait for it.

#include <cpprest/http_listener.h>
#include <cpprest/version.h>
#include <pplx/threadpool.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "shared/cpp-server/content.hpp"
#include "shared/cpp-server/options.hpp"

namespace {

using web::http::http_request;
using web::http::http_response;
using web::http::status_codes;
using web::http::experimental::listener::http_listener;
using web::http::experimental::listener::http_listener_config;

class Service {
public:
    explicit Service(const wiretrial::Options& options);
    void open();

private:
    void add_routes(http_listener& listener);
    void post(http_request request);
    static void get(http_request request);
    static void head(http_request request);

    std::chrono::milliseconds delay_;
    http_listener plain_;
    http_listener secure_;
};

void serve(const wiretrial::Options& options) {
    crossplat::threadpool::initialize_with_threads(options.threads);
    Service service(options);
    service.open();
    pause();  // until a signal ends the process
}

utility::string_t address(const char* scheme, const std::string& host, std::uint16_t port) {
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

Service::Service(const wiretrial::Options& options)
    : delay_(options.delay),
      plain_(address("http", options.host, options.port)),
      secure_(address("https", options.host, options.tls_port), with_certificate(options)) {
    add_routes(plain_);
    add_routes(secure_);
}

void Service::open() {
    plain_.open().wait();
    secure_.open().wait();
}

void Service::add_routes(http_listener& listener) {
    using web::http::methods;
    listener.support(methods::POST, [this](http_request request) { post(std::move(request)); });
    listener.support(methods::GET, get);
    listener.support(methods::HEAD, head);
}

void Service::post(http_request request) {
    const auto path = request.relative_uri().path();
    if (path == "/test") {
        const auto delay = delay_;
        // `true`: whatever type the request gives its body.
        request.extract_string(true).then([request, delay](const std::string& body) {
            request.reply(status_codes::OK, wiretrial::received(body, delay), wiretrial::TEXT);
        });
        return;
    }
    if (path == "/echo") {
        request.extract_vector().then([request](const std::vector<unsigned char>& body) {
            http_response response(status_codes::OK);
            response.set_body(body);
            request.reply(response);
        });
        return;
    }
    request.reply(status_codes::NotFound);
}

void Service::get(http_request request) {
    const auto path = request.relative_uri().path();
    if (path == "/message") {
        request.reply(status_codes::OK, wiretrial::MESSAGE, wiretrial::JSON);
        return;
    }
    if (path == "/test/status") {
        request.reply(status_codes::OK, wiretrial::STATUS, wiretrial::TEXT);
        return;
    }
    const auto parts = web::uri::split_path(web::uri::decode(path));
    if (parts.size() == 3 && parts[0] == "test" && parts[1] == "labels") {
        request.reply(status_codes::OK, parts[2], wiretrial::TEXT);
        return;
    }
    request.reply(status_codes::NotFound);
}

void Service::head(http_request request) {
    if (request.relative_uri().path() != "/message") {
        request.reply(status_codes::NotFound);
        return;
    }
    http_response response(status_codes::OK);
    response.headers().set_content_type(wiretrial::JSON);
    request.reply(response);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string version = std::to_string(CPPREST_VERSION_MAJOR) + "." +
                                std::to_string(CPPREST_VERSION_MINOR) + "." +
                                std::to_string(CPPREST_VERSION_REVISION);
    return wiretrial::run(argc, argv, version, serve);
}
