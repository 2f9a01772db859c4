// The HTTP routes: an exchange is read whole, then answered as the socket takes it.
//
// Knows the library's HTTP events; must not know ports, nor WebSockets.

#pragma once

#include <libwebsockets.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "callback.hpp"
#include "shared/cpp-server/content.hpp"

/// One request and its answer.
struct Exchange {
    // The request's body, then the answer's, after LWS_PRE bytes for the library.
    std::vector<unsigned char> bytes = std::vector<unsigned char>(LWS_PRE);
    std::size_t next = LWS_PRE;  // the first byte that is not sent yet
    bool answered = false;

    void append(const void* content, std::size_t length) {
        const auto* from = static_cast<const unsigned char*>(content);
        bytes.insert(bytes.end(), from, from + length);
    }
};

/// What belongs to a connection; the library gives it as zeros.
struct Slot {
    Exchange* exchange;
};

inline int on_http(lws* wsi, lws_callback_reasons reason, void* user, void* in, size_t length);
inline int begin(lws* wsi, Exchange& exchange, const std::string& path);
inline int answer(lws* wsi, Exchange& exchange, const char* type, bool without_body);
inline int send_body(lws* wsi, Exchange& exchange);
inline int complete(lws* wsi);

/// HTTP as a protocol that receives and sends at most `buffer_size` bytes at once.
inline lws_protocols http_protocol(std::size_t buffer_size) {
    lws_protocols protocol{};
    protocol.name = "http";
    protocol.callback = on_http;
    protocol.per_session_data_size = sizeof(Slot);
    protocol.rx_buffer_size = buffer_size;
    return protocol;
}

inline int on_http(lws* wsi, lws_callback_reasons reason, void* user, void* in, size_t length) {
    Slot* slot = static_cast<Slot*>(user);
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        delete slot->exchange;
        slot->exchange = new Exchange;
        return begin(wsi, *slot->exchange, static_cast<const char*>(in));
    case LWS_CALLBACK_HTTP_BODY:
        slot->exchange->append(in, length);
        return CARRY_ON;
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
        return answer(wsi, *slot->exchange, wiretrial::BYTES, false);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        if (slot && slot->exchange && slot->exchange->answered) {
            return send_body(wsi, *slot->exchange);
        }
        return CARRY_ON;
    case LWS_CALLBACK_HTTP_DROP_PROTOCOL:
    case LWS_CALLBACK_CLOSED_HTTP:
        if (slot) {
            delete slot->exchange;
            slot->exchange = nullptr;
        }
        return CARRY_ON;
    default:
        return lws_callback_http_dummy(wsi, reason, user, in, length);
    }
}

inline int begin(lws* wsi, Exchange& exchange, const std::string& path) {
    char* uri = nullptr;
    int uri_length = 0;
    const int method = lws_http_get_uri_and_method(wsi, &uri, &uri_length);
    if (path == "/message" && (method == LWSHUMETH_GET || method == LWSHUMETH_HEAD)) {
        exchange.append(wiretrial::MESSAGE, sizeof wiretrial::MESSAGE - 1);
        return answer(wsi, exchange, wiretrial::JSON, method == LWSHUMETH_HEAD);
    }
    if (path == "/echo" && method == LWSHUMETH_POST) {
        return CARRY_ON;  // until its body is complete
    }
    if (lws_return_http_status(wsi, HTTP_STATUS_NOT_FOUND, nullptr)) {
        return CLOSE;
    }
    return complete(wsi);
}

/// Sends the head and as much of the body as fits at once; the rest when the socket takes it.
inline int answer(lws* wsi, Exchange& exchange, const char* type, bool without_body) {
    unsigned char head[LWS_PRE + 1024];
    unsigned char* const start = head + LWS_PRE;
    unsigned char* const end = head + sizeof head;
    unsigned char* at = start;
    const std::size_t length = exchange.bytes.size() - LWS_PRE;
    if (lws_add_http_common_headers(wsi, HTTP_STATUS_OK, type, length, &at, end) ||
        lws_finalize_http_header(wsi, &at, end)) {
        return CLOSE;
    }
    const bool over = without_body || length == 0;
    const int flags = LWS_WRITE_HTTP_HEADERS | (over ? LWS_WRITE_H2_STREAM_END : 0);
    if (lws_write(wsi, start, at - start, static_cast<lws_write_protocol>(flags)) < 0) {
        return CLOSE;
    }
    if (over) {
        return complete(wsi);
    }
    exchange.answered = true;
    return send_body(wsi, exchange);
}

inline int send_body(lws* wsi, Exchange& exchange) {
    const std::size_t left = exchange.bytes.size() - exchange.next;
    const std::size_t allowed = static_cast<std::size_t>(lws_get_peer_write_allowance(wsi));
    const std::size_t piece = std::min({left, allowed, lws_get_protocol(wsi)->rx_buffer_size});
    const bool last = piece == left;
    // The library writes into the bytes before these, which are sent already.
    unsigned char* const from = exchange.bytes.data() + exchange.next;
    if (piece > 0) {
        exchange.next += piece;
        if (lws_write(wsi, from, piece, last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < 0) {
            return CLOSE;
        }
    }
    if (last) {
        exchange.answered = false;
        return complete(wsi);
    }
    lws_callback_on_writable(wsi);
    return CARRY_ON;
}

inline int complete(lws* wsi) {
    return lws_http_transaction_completed(wsi) ? CLOSE : CARRY_ON;
}
