// The command line of the C++ servers of the contract `web`.
//
// Knows what every one of them is told; must not know any library nor any route.

#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace wiretrial::web {

struct Options {
    std::string host;
    std::uint16_t port = 0;
    unsigned threads = 1;
    bool tuned = false;  // the library's documented production options
};

/// A number that is not 0; nothing where the text is none, or too large.
template <typename Number>
std::optional<Number> positive(std::string_view text) {
    Number found = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, found);
    const bool is_one = read.ec == std::errc() && read.ptr == end && found > 0;
    return is_one ? std::optional<Number>(found) : std::nullopt;
}

inline std::optional<Options> parse(int argc, char** argv) {
    const bool tuned = argc == 5 && std::string_view(argv[4]) == "tuned";
    if (argc != 4 && !tuned) {
        return std::nullopt;
    }
    const auto port = positive<std::uint16_t>(argv[2]);
    const auto threads = positive<unsigned>(argv[3]);
    if (!port || !threads) {
        return std::nullopt;
    }
    return Options{argv[1], *port, *threads, tuned};
}

/// The whole of `main`: `--version` prints the library's version, everything else is served.
/// Returns the exit code: 0, 1 when `serve` throws, 2 for a command line that can't be understood.
template <typename Serve>
int run(int argc, char** argv, const std::string& library_version, Serve serve) {
    if (argc == 2 && std::string_view(argv[1]) == "--version") {
        std::printf("%s\n", library_version.c_str());
        return 0;
    }
    const std::optional<Options> options = parse(argc, argv);
    if (!options) {
        std::fprintf(stderr, "usage: %s HOST PORT THREADS [tuned], or --version\n", argv[0]);
        return 2;
    }
    try {
        serve(*options);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
}

}  // namespace wiretrial::web
