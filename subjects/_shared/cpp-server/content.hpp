// What the contracts say, for the C++ servers: texts, types and sizes.
//
// Knows no library. C++11, as the oldest of them needs.

#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>

namespace wiretrial {

/// `GET /message`: 64 bytes of JSON.
constexpr char MESSAGE[] = "{\"seq\":\"0000000000000000\",\"text\":\"one message of 64 bytes.....\"}";
static_assert(sizeof MESSAGE - 1 == 64, "the contract says 64 bytes");

/// `GET /test/status`.
constexpr char STATUS[] = "OK";

constexpr char TEXT[] = "text/plain";
constexpr char JSON[] = "application/json";
constexpr char BYTES[] = "application/octet-stream";

/// The largest body or message that is taken, where the library wants to know one.
constexpr std::size_t MAX_BODY = std::size_t{128} << 20;

/// `POST /test`: blocks the handler's thread for the delay, then gives the answer's text.
inline std::string received(const std::string& body, std::chrono::milliseconds delay) {
    // A sleep of no length would still be a system call.
    if (delay.count() > 0) {
        std::this_thread::sleep_for(delay);
    }
    return "received: " + body;
}

}  // namespace wiretrial
