// Boost.Beast: one io_context that a pool of threads runs, a strand and a coroutine per connection,
// the same code for plain connections and TLS.

// Asio 1.18 forgets this one where it uses coroutines.
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/version.hpp>

#include <chrono>
#include <string>

#include "connection.hpp"
#include "shared/cpp-server/options.hpp"
#include "shared/cpp-server/threads.hpp"

namespace {

using wiretrial::Options;

template <typename Serve>
asio::awaitable<void> accept(tcp::acceptor acceptor, bool no_delay, Serve serve_one);

tcp::acceptor listener(asio::io_context& loop, const Options& options, std::uint16_t port);

asio::ssl::context tls_context(const Options& options);

void serve(const Options& options) {
    asio::io_context loop(static_cast<int>(options.threads));
    asio::ssl::context tls = tls_context(options);

    const auto plain = [&options](tcp::socket socket) {
        return serve_plain(std::move(socket), options);
    };
    const auto secure = [&options, &tls](tcp::socket socket) {
        return serve_tls(std::move(socket), tls, options);
    };
    const bool no_delay = options.tuned;
    asio::co_spawn(
        loop, accept(listener(loop, options, options.port), no_delay, plain), asio::detached);
    asio::co_spawn(
        loop, accept(listener(loop, options, options.tls_port), no_delay, secure), asio::detached);

    wiretrial::in_threads(options.threads, [&loop] { loop.run(); });
}

template <typename Serve>
asio::awaitable<void> accept(tcp::acceptor acceptor, bool no_delay, Serve serve_one) {
    for (;;) {
        boost::system::error_code failed;
        tcp::socket socket = co_await acceptor.async_accept(
            asio::make_strand(acceptor.get_executor()),
            asio::redirect_error(asio::use_awaitable, failed));
        if (failed) {
            // Most likely there are no descriptors left; some connection will give one back.
            asio::steady_timer pause(acceptor.get_executor(), std::chrono::milliseconds(100));
            co_await pause.async_wait(asio::use_awaitable);
            continue;
        }
        if (no_delay) {
            socket.set_option(tcp::no_delay(true), failed);
        }
        const auto strand = socket.get_executor();
        asio::co_spawn(strand, serve_one(std::move(socket)), asio::detached);
    }
}

tcp::acceptor listener(asio::io_context& loop, const Options& options, std::uint16_t port) {
    return tcp::acceptor(loop, {asio::ip::make_address(options.host), port});
}

asio::ssl::context tls_context(const Options& options) {
    asio::ssl::context context(asio::ssl::context::tls_server);
    context.use_certificate_chain_file(options.cert);
    context.use_private_key_file(options.key, asio::ssl::context::pem);
    return context;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string version = std::to_string(BOOST_VERSION / 100000) + "." +
                                std::to_string(BOOST_VERSION / 100 % 1000) + "." +
                                std::to_string(BOOST_VERSION % 100);
    return wiretrial::run(argc, argv, version, serve);
}
