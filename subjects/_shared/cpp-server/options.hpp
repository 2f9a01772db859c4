// The command line of the C++ servers.
//
// Knows the flags that every one of them takes; must not know any library nor any route.
// C++11, as the oldest of them needs.

#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

namespace wiretrial {

struct Options {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;
    std::uint16_t tls_port = 0;
    std::string cert;  // a PEM file
    std::string key;   // a PEM file
    unsigned threads = 1;
    std::chrono::milliseconds delay{0};  // how long `POST /test` waits in its handler
    bool tuned = false;                  // the library's documented production options
};

struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

Options parse(int argc, char** argv);

/// The whole of `main`: `--version` prints the library's version, everything else is served.
/// Returns the exit code: 0, 1 when `serve` throws, 2 for a command line that can't be understood.
template <typename Serve>
int run(int argc, char** argv, const std::string& library_version, Serve serve) {
    try {
        if (argc == 2 && std::string(argv[1]) == "--version") {
            std::printf("%s\n", library_version.c_str());
            return 0;
        }
        serve(parse(argc, argv));
        return 0;
    } catch (const UsageError& error) {
        std::fprintf(stderr, "%s\nusage: %s --host H --port P --tls-port P --cert F --key F"
                             " [--threads N] [--delay-ms N] [--tuned]\n",
                     error.what(), argv[0]);
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
}

inline unsigned long number(const std::string& flag, const std::string& text, unsigned long most) {
    char* end = nullptr;
    const unsigned long value = std::strtoul(text.c_str(), &end, 10);
    if (text.empty() || text[0] == '-' || *end != '\0' || value > most) {
        throw UsageError(flag + " " + text + ": not a number from 0 to " + std::to_string(most));
    }
    return value;
}

inline Options parse(int argc, char** argv) {
    Options options;
    for (int at = 1; at < argc; ++at) {
        const std::string flag = argv[at];
        if (flag == "--tuned") {
            options.tuned = true;
            continue;
        }
        if (++at == argc) {
            throw UsageError(flag + ": unknown, or its value is missing");
        }
        const std::string value = argv[at];
        if (flag == "--host") {
            options.host = value;
        } else if (flag == "--port") {
            options.port = static_cast<std::uint16_t>(number(flag, value, 65535));
        } else if (flag == "--tls-port") {
            options.tls_port = static_cast<std::uint16_t>(number(flag, value, 65535));
        } else if (flag == "--cert") {
            options.cert = value;
        } else if (flag == "--key") {
            options.key = value;
        } else if (flag == "--threads") {
            options.threads = static_cast<unsigned>(number(flag, value, 1024));
        } else if (flag == "--delay-ms") {
            options.delay = std::chrono::milliseconds(number(flag, value, 3600000));
        } else {
            throw UsageError(flag + ": unknown");
        }
    }
    if (options.port == 0 || options.tls_port == 0 || options.cert.empty() || options.key.empty()) {
        throw UsageError("--port, --tls-port, --cert and --key are needed");
    }
    if (options.threads == 0) {
        throw UsageError("--threads 0: at least one is needed");
    }
    return options;
}

}  // namespace wiretrial
