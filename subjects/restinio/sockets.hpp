// RESTinio's WebSocket connections: each sends back what it receives, frame by frame.
//
// Knows WebSocket; must not know any other route.

#pragma once

#include <restinio/all.hpp>
#include <restinio/websocket/websocket.hpp>

#include <cstdint>
#include <mutex>
#include <unordered_map>

/// The WebSocket connections of one server.
class Sockets {
public:
    /// Upgrades the request, or rejects it where it asks for no upgrade.
    template <typename Traits>
    restinio::request_handling_status_t accept(const restinio::request_handle_t& request);

private:
    using Socket = restinio::websocket::basic::ws_handle_t;
    using Frame = restinio::websocket::basic::message_t;

    void receive(const Socket& from, const Frame& frame);

    std::mutex mutex_;
    /// The open ones, by the number that their server gave them. RESTinio closes a connection that
    /// nobody holds.
    std::unordered_map<std::uint64_t, Socket> open_;
};

template <typename Traits>
restinio::request_handling_status_t Sockets::accept(const restinio::request_handle_t& request) {
    namespace ws = restinio::websocket::basic;
    if (request->header().connection() != restinio::http_connection_header_t::upgrade) {
        return restinio::request_rejected();
    }
    // Nothing is read before `activate`, so that no close comes before the connection is held.
    const auto socket = ws::upgrade<Traits>(
        *request, ws::activation_t::delayed,
        [this](const Socket& from, const ws::message_handle_t& frame) { receive(from, *frame); });
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        open_.emplace(socket->connection_id(), socket);
    }
    activate(*socket);
    return restinio::request_accepted();
}

inline void Sockets::receive(const Socket& from, const Frame& frame) {
    using restinio::websocket::basic::opcode_t;
    switch (frame.opcode()) {
        case opcode_t::text_frame:
        case opcode_t::binary_frame:
        case opcode_t::continuation_frame:
            from->send_message(frame);
            return;
        case opcode_t::ping_frame: {
            auto pong = frame;
            pong.set_opcode(opcode_t::pong_frame);
            from->send_message(pong);
            return;
        }
        case opcode_t::connection_close_frame: {
            const std::lock_guard<std::mutex> lock(mutex_);
            open_.erase(from->connection_id());
            return;
        }
        default:
            return;
    }
}
