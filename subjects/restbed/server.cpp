// Restbed as a subject: one service for HTTP and HTTPS.
//
// Restbed leaves the body of a request, and what becomes of the connection, to its handlers.

#include <memory>
#include <restbed>
#include <string>

#include "body.hpp"
#include "shared/cpp-server/content.hpp"
#include "shared/cpp-server/options.hpp"

namespace {

using restbed::Resource;
using SessionPointer = std::shared_ptr<restbed::Session>;

void publish(restbed::Service& service, std::chrono::milliseconds delay);
std::shared_ptr<restbed::Settings> settings(const wiretrial::Options& options);

void serve(const wiretrial::Options& options) {
    restbed::Service service;
    publish(service, options.delay);
    service.start(settings(options));
}

/// Answers with 200, and ends the connection where the request asks for it. What has no body is the
/// answer to HEAD; its length is that of the answer to GET.
void answer(const SessionPointer& session, const char* type, const std::string& body,
            std::size_t length) {
    std::multimap<std::string, std::string> headers{{"Content-Type", type},
                                                    {"Content-Length", std::to_string(length)}};
    const auto request = session->get_request();
    if (request->get_header("Connection", restbed::String::lowercase) == "close") {
        headers.emplace("Connection", "close");
        session->close(restbed::OK, body, headers);
    } else {
        headers.emplace("Connection", "keep-alive");
        session->yield(restbed::OK, body, headers);
    }
}

void answer(const SessionPointer& session, const char* type, const std::string& body) {
    answer(session, type, body, body.size());
}

std::shared_ptr<Resource> resource(const char* path) {
    auto made = std::make_shared<Resource>();
    made->set_path(path);
    return made;
}

void publish(restbed::Service& service, std::chrono::milliseconds delay) {
    const auto test = resource("/test");
    test->set_method_handler("POST", [delay](const SessionPointer session) {
        with_body(session, [delay](const SessionPointer& session, const std::string& body) {
            answer(session, wiretrial::TEXT, wiretrial::received(body, delay));
        });
    });
    service.publish(test);

    const auto status = resource("/test/status");
    status->set_method_handler("GET", [](const SessionPointer session) {
        answer(session, wiretrial::TEXT, wiretrial::STATUS);
    });
    service.publish(status);

    const auto labels = resource("/test/labels/{label: .+}");
    labels->set_method_handler("GET", [](const SessionPointer session) {
        answer(session, wiretrial::TEXT, session->get_request()->get_path_parameter("label"));
    });
    service.publish(labels);

    const auto echo = resource("/echo");
    echo->set_method_handler("POST", [](const SessionPointer session) {
        with_body(session, [](const SessionPointer& session, const std::string& body) {
            answer(session, wiretrial::BYTES, body);
        });
    });
    service.publish(echo);

    const auto message = resource("/message");
    message->set_method_handler("GET", [](const SessionPointer session) {
        answer(session, wiretrial::JSON, wiretrial::MESSAGE);
    });
    message->set_method_handler("HEAD", [](const SessionPointer session) {
        answer(session, wiretrial::JSON, "", sizeof wiretrial::MESSAGE - 1);
    });
    service.publish(message);
}

std::shared_ptr<restbed::Settings> settings(const wiretrial::Options& options) {
    const auto tls = std::make_shared<restbed::SSLSettings>();
    tls->set_bind_address(options.host);
    tls->set_port(options.tls_port);
    tls->set_certificate_chain(restbed::Uri("file://" + options.cert));
    tls->set_private_key(restbed::Uri("file://" + options.key));

    const auto made = std::make_shared<restbed::Settings>();
    made->set_bind_address(options.host);
    made->set_port(options.port);
    made->set_ssl_settings(tls);
    made->set_worker_limit(options.threads);
    return made;
}

}  // namespace

int main(int argc, char** argv) {
    return wiretrial::run(argc, argv, RESTBED_VERSION, serve);
}
