// The WebSocket echo: what is received waits until the socket can take it.
//
// Knows the library's WebSocket events; must not know ports or threads.

#pragma once

#include <libwebsockets.h>

#include <cstddef>
#include <deque>
#include <new>
#include <utility>
#include <vector>

#include "callback.hpp"
#include "shared/cpp-server/content.hpp"

/// A piece of a message, as large as the library delivers it.
struct Piece {
    std::vector<unsigned char> bytes;  // the content, after LWS_PRE bytes for the library
    bool text;
    bool first;
    bool last;
};

/// What belongs to a connection.
struct Peer {
    std::deque<Piece> waiting;
    std::size_t waiting_bytes = 0;
    bool paused = false;
};

/// So much may wait before no more is read from its sender: one that sends a whole message before
/// it reads would wait for ever otherwise.
constexpr std::size_t MOST_WAITING = 2 * wiretrial::MAX_BODY;

inline int on_event(lws* wsi, lws_callback_reasons reason, void* user, void* in, size_t length);
inline void receive(lws* wsi, Peer& peer, const void* in, size_t length);
inline bool send(lws* wsi, Peer& peer);

/// The echo as a protocol that delivers `buffer_size` bytes at once, and sends as many.
inline lws_protocols echo_protocol(std::size_t buffer_size) {
    lws_protocols protocol{};
    protocol.name = "echo";
    protocol.callback = on_event;
    protocol.per_session_data_size = sizeof(Peer);
    protocol.rx_buffer_size = buffer_size;
    return protocol;
}

inline int on_event(lws* wsi, lws_callback_reasons reason, void* user, void* in, size_t length) {
    Peer* peer = static_cast<Peer*>(user);
    switch (reason) {
    case LWS_CALLBACK_ESTABLISHED:
        new (peer) Peer;
        return CARRY_ON;
    case LWS_CALLBACK_RECEIVE:
        receive(wsi, *peer, in, length);
        return CARRY_ON;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return send(wsi, *peer) ? CARRY_ON : CLOSE;
    case LWS_CALLBACK_CLOSED:
        peer->~Peer();
        return CARRY_ON;
    default:
        return lws_callback_http_dummy(wsi, reason, user, in, length);
    }
}

inline void receive(lws* wsi, Peer& peer, const void* in, size_t length) {
    Piece piece;
    const auto* content = static_cast<const unsigned char*>(in);
    piece.bytes.resize(LWS_PRE);
    piece.bytes.insert(piece.bytes.end(), content, content + length);
    piece.text = lws_frame_is_binary(wsi) == 0;
    piece.first = lws_is_first_fragment(wsi) != 0;
    piece.last = lws_is_final_fragment(wsi) != 0;
    peer.waiting.push_back(std::move(piece));
    peer.waiting_bytes += length;
    if (peer.waiting_bytes >= MOST_WAITING && !peer.paused) {
        lws_rx_flow_control(wsi, 0);
        peer.paused = true;
    }
    lws_callback_on_writable(wsi);
}

/// Sends what the socket takes; false where it takes nothing any more.
inline bool send(lws* wsi, Peer& peer) {
    while (!peer.waiting.empty() && !lws_send_pipe_choked(wsi)) {
        Piece& piece = peer.waiting.front();
        const int kind = piece.text ? LWS_WRITE_TEXT : LWS_WRITE_BINARY;
        const int flags = lws_write_ws_flags(kind, piece.first, piece.last);
        const std::size_t length = piece.bytes.size() - LWS_PRE;
        const int written = lws_write(
            wsi, piece.bytes.data() + LWS_PRE, length, static_cast<lws_write_protocol>(flags));
        if (written < static_cast<int>(length)) {
            return false;
        }
        peer.waiting_bytes -= length;
        peer.waiting.pop_front();
    }
    if (!peer.waiting.empty()) {
        lws_callback_on_writable(wsi);
    } else if (peer.paused) {
        lws_rx_flow_control(wsi, 1);
        peer.paused = false;
    }
    return true;
}
