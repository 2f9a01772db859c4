// Pistache as a subject: an endpoint for HTTP and one for HTTPS, the same routes in both.

#include <pistache/endpoint.h>
#include <pistache/router.h>
#include <pistache/version.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>

#include "shared/cpp-server/content.hpp"
#include "shared/cpp-server/options.hpp"
#include "shared/cpp-server/percent.hpp"

namespace {

using namespace Pistache;
using Response = Http::ResponseWriter;

Rest::Router routes(const wiretrial::Options& options);
std::unique_ptr<Http::Endpoint> endpoint(const wiretrial::Options& options, std::uint16_t port);

void serve(const wiretrial::Options& options) {
    // OpenSSL writes to sockets whose peer has vanished, and nothing keeps the signal off.
    std::signal(SIGPIPE, SIG_IGN);

    const auto router = routes(options);
    const auto plain = endpoint(options, options.port);
    const auto secure = endpoint(options, options.tls_port);
    secure->useSSL(options.cert, options.key);
    for (const auto& each : {plain.get(), secure.get()}) {
        each->setHandler(router.handler());
        each->serveThreaded();
    }
    pause();  // until a signal ends the process
}

/// Answers with 200. Where a request says nothing of its connection, Pistache would answer that it
/// closes it, and then keep it: such an answer says nothing either.
template <typename Body>
Rest::Route::Result answer(const Rest::Request& request, Response& response, const Body& body,
                           const Http::Mime::MediaType& type) {
    if (!request.headers().has<Http::Header::Connection>()) {
        response.headers().remove<Http::Header::Connection>();
    }
    response.send(Http::Code::Ok, body, type);
    return Rest::Route::Result::Ok;
}

Rest::Router routes(const wiretrial::Options& options) {
    const auto text = MIME(Text, Plain);
    const auto json = MIME(Application, Json);
    const auto bytes = MIME(Application, OctetStream);
    const auto delay = options.delay;
    Rest::Router router;

    router.post("/test", [=](const Rest::Request& request, Response response) {
        return answer(request, response, wiretrial::received(request.body(), delay), text);
    });
    router.get("/test/status", [=](const Rest::Request& request, Response response) {
        return answer(request, response, wiretrial::STATUS, text);
    });
    router.get("/test/labels/:label", [=](const Rest::Request& request, Response response) {
        const auto label = wiretrial::percent_decoded(request.param(":label").as<std::string>());
        return answer(request, response, label, text);
    });
    router.post("/echo", [=](const Rest::Request& request, Response response) {
        return answer(request, response, request.body(), bytes);
    });
    router.get("/message", [=](const Rest::Request& request, Response response) {
        return answer(request, response, wiretrial::MESSAGE, json);
    });
    router.head("/message", [=](const Rest::Request& request, Response response) {
        return answer(request, response, "", json);
    });
    return router;
}

std::unique_ptr<Http::Endpoint> endpoint(const wiretrial::Options& options, std::uint16_t port) {
    // Without this, no server can start where another one has just ended.
    Flags<Tcp::Options> flags(Tcp::Options::ReuseAddr);
    if (options.tuned) {
        flags.setFlag(Tcp::Options::NoDelay);
    }
    const auto settings = Http::Endpoint::options()
                              .threads(static_cast<int>(options.threads))
                              .flags(flags)
                              .maxRequestSize(wiretrial::MAX_BODY);
    auto made = std::make_unique<Http::Endpoint>(Address(options.host, Port(port)));
    made->init(settings);
    return made;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string version = std::to_string(Version::Major) + "." +
                                std::to_string(Version::Minor) + "." +
                                std::to_string(Version::Patch);
    return wiretrial::run(argc, argv, version, serve);
}
