// One connection: HTTP requests one after the other, and a WebSocket echo once it is upgraded.
//
// Knows Beast's streams; must not know ports or threads. What the routes answer is in routes.hpp.

#pragma once

#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>

#include <chrono>

#include "routes.hpp"

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

/// An HTTP request or answer may take so long, as in Beast's examples.
constexpr std::chrono::seconds TIME_LIMIT{30};

template <typename Stream>
asio::awaitable<void> serve_http(Stream& stream, const Options& options);

/// Ends by an exception only: a closed WebSocket is one.
template <typename Stream>
asio::awaitable<void> echo(Stream stream, Request upgrade, const Options& options);

inline asio::awaitable<void> serve_plain(tcp::socket socket, const Options& options) try {
    beast::tcp_stream stream(std::move(socket));
    co_await serve_http(stream, options);
    boost::system::error_code ignored;
    stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
} catch (const boost::system::system_error&) {
    // The peer has left or broken the protocol: that ends its connection, and nothing else.
}

inline asio::awaitable<void> serve_tls(
    tcp::socket socket, asio::ssl::context& tls, const Options& options) try {
    beast::ssl_stream<beast::tcp_stream> stream(std::move(socket), tls);
    beast::get_lowest_layer(stream).expires_after(TIME_LIMIT);
    co_await stream.async_handshake(asio::ssl::stream_base::server, asio::use_awaitable);
    co_await serve_http(stream, options);
    co_await stream.async_shutdown(asio::use_awaitable);
} catch (const boost::system::system_error&) {
    // As above.
}

template <typename Stream>
asio::awaitable<void> serve_http(Stream& stream, const Options& options) {
    beast::flat_buffer buffer;
    for (;;) {
        http::request_parser<http::string_body> parser;
        parser.body_limit(wiretrial::MAX_BODY);
        beast::get_lowest_layer(stream).expires_after(TIME_LIMIT);
        co_await http::async_read(stream, buffer, parser, asio::use_awaitable);
        Request request = parser.release();

        if (beast::websocket::is_upgrade(request)) {
            co_await echo(std::move(stream), std::move(request), options);
            co_return;
        }
        Response response = answer(std::move(request), options);
        co_await http::async_write(stream, response, asio::use_awaitable);
        if (!response.keep_alive()) {
            co_return;
        }
    }
}

template <typename Stream>
asio::awaitable<void> echo(Stream stream, Request upgrade, const Options& options) {
    namespace websocket = beast::websocket;
    // The WebSocket keeps its own time from here on.
    beast::get_lowest_layer(stream).expires_never();
    websocket::stream<Stream> socket(std::move(stream));
    constexpr bool pings = false;
    socket.set_option(
        websocket::stream_base::timeout{TIME_LIMIT, websocket::stream_base::none(), pings});
    socket.read_message_max(wiretrial::MAX_BODY);
    if (options.tuned) {
        socket.auto_fragment(false);
    }
    co_await socket.async_accept(upgrade, asio::use_awaitable);

    beast::flat_buffer message;
    for (;;) {
        co_await socket.async_read(message, asio::use_awaitable);
        socket.text(socket.got_text());
        co_await socket.async_write(message.data(), asio::use_awaitable);
        message.clear();
    }
}
