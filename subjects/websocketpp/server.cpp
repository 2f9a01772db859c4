// WebSocket++: an endpoint for plain connections and one for TLS, both on one asio io_context that
// a pool of threads runs, as its examples echo_server, echo_server_tls and testee_server do.

#include <websocketpp/config/asio.hpp>
#include <websocketpp/server.hpp>

#include <fstream>
#include <string>

#include "shared/cpp-server/content.hpp"
#include "shared/cpp-server/options.hpp"
#include "shared/cpp-server/threads.hpp"

namespace {

using wiretrial::Options;
using Plain = websocketpp::server<websocketpp::config::asio>;
using Secure = websocketpp::server<websocketpp::config::asio_tls>;
using TlsContext = asio::ssl::context;

template <typename Endpoint>
void prepare(Endpoint& endpoint, asio::io_context& loop, std::ostream& log, const Options& options);

template <typename Endpoint>
void listen(Endpoint& endpoint, const Options& options, std::uint16_t port);

std::shared_ptr<TlsContext> tls_context(const Options& options);

void serve(const Options& options) {
    asio::io_context loop;
    // What an example writes for each message is written here too, but not kept.
    std::ofstream plain_log("/dev/null");
    std::ofstream secure_log("/dev/null");

    Plain plain;
    prepare(plain, loop, plain_log, options);
    listen(plain, options, options.port);

    Secure secure;
    prepare(secure, loop, secure_log, options);
    secure.set_tls_init_handler(
        [tls = tls_context(options)](websocketpp::connection_hdl) { return tls; });
    listen(secure, options, options.tls_port);

    wiretrial::in_threads(options.threads, [&loop] { loop.run(); });
}

template <typename Endpoint>
void prepare(Endpoint& endpoint, asio::io_context& loop, std::ostream& log, const Options& options) {
    endpoint.init_asio(&loop);
    endpoint.set_reuse_addr(true);
    endpoint.set_max_message_size(wiretrial::MAX_BODY);
    endpoint.get_alog().set_ostream(&log);
    endpoint.set_access_channels(websocketpp::log::alevel::all);
    endpoint.clear_access_channels(websocketpp::log::alevel::frame_payload);

    if (options.tuned) {
        endpoint.clear_access_channels(websocketpp::log::alevel::all);
        endpoint.clear_error_channels(websocketpp::log::elevel::all);
        endpoint.set_tcp_post_init_handler([&endpoint](websocketpp::connection_hdl peer) {
            asio::error_code ignored;
            endpoint.get_con_from_hdl(peer)->get_raw_socket().set_option(
                asio::ip::tcp::no_delay(true), ignored);
        });
    }

    endpoint.set_message_handler(
        [&endpoint](websocketpp::connection_hdl peer, typename Endpoint::message_ptr message) {
            // A peer that has left in the meantime is nobody's concern.
            websocketpp::lib::error_code ignored;
            endpoint.send(peer, message->get_payload(), message->get_opcode(), ignored);
        });
}

template <typename Endpoint>
void listen(Endpoint& endpoint, const Options& options, std::uint16_t port) {
    endpoint.listen(options.host, std::to_string(port));
    endpoint.start_accept();
}

std::shared_ptr<TlsContext> tls_context(const Options& options) {
    auto context = std::make_shared<TlsContext>(TlsContext::tls_server);
    context->use_certificate_chain_file(options.cert);
    context->use_private_key_file(options.key, TlsContext::pem);
    return context;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string product(websocketpp::user_agent);
    return wiretrial::run(argc, argv, product.substr(product.find('/') + 1), serve);
}
