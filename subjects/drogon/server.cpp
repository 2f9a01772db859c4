// Drogon as a subject: one app with a listener for plain connections and one for TLS, and a
// WebSocketController that sends each message back, as its documentation's EchoWebsock does.

#include <drogon/HttpAppFramework.h>
#include <drogon/WebSocketController.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <string>

#include "shared/cpp-server/content.hpp"
#include "shared/cpp-server/options.hpp"

namespace {

class Echo : public drogon::WebSocketController<Echo> {
public:
    void handleNewMessage(
        const drogon::WebSocketConnectionPtr& connection, std::string&& message,
        const drogon::WebSocketMessageType& type) override {
        // Pings, pongs and closes are told here too; Drogon has done with them what it does.
        const bool content = type == drogon::WebSocketMessageType::Text ||
                             type == drogon::WebSocketMessageType::Binary;
        if (content) {
            connection->send(message, type);
        }
    }

    void handleNewConnection(
        const drogon::HttpRequestPtr&, const drogon::WebSocketConnectionPtr&) override {}

    void handleConnectionClosed(const drogon::WebSocketConnectionPtr&) override {}

    WS_PATH_LIST_BEGIN
    WS_PATH_ADD("/");
    WS_PATH_LIST_END
};

void tune(drogon::HttpAppFramework& app);

void serve(const wiretrial::Options& options) {
    drogon::HttpAppFramework& app = drogon::app();
    app.addListener(options.host, options.port);
    app.addListener(options.host, options.tls_port, true, options.cert, options.key);
    app.setThreadNum(options.threads);
    app.setClientMaxWebSocketMessageSize(wiretrial::MAX_BODY);
    if (options.tuned) {
        tune(app);
    }
    app.run();
}

void tune(drogon::HttpAppFramework& app) {
    app.setLogLevel(trantor::Logger::kWarn);
    app.setAfterAcceptSockOptCallback([](int socket) {
        const int on = 1;
        // A peer that has left in the meantime is nobody's concern.
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    });
}

}  // namespace

int main(int argc, char** argv) {
    return wiretrial::run(argc, argv, drogon::getVersion(), serve);
}
