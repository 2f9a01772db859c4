// One loop per thread, for the libraries that scale so.
//
// Knows threads; must not know what a loop does. C++11, as the oldest library needs.

#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

namespace wiretrial {

/// Runs `loop` in `count` threads, the caller's among them, until the process is ended. A thread
/// that fails ends the process: a server of fewer threads than it was told must not be measured.
template <typename Loop>
void in_threads(unsigned count, Loop loop) {
    const auto guarded = [&loop] {
        try {
            loop();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "a server thread failed: %s\n", error.what());
            std::_Exit(1);
        }
    };
    std::vector<std::thread> others;
    for (unsigned started = 1; started < count; ++started) {
        others.emplace_back(guarded);
    }
    guarded();
    for (std::thread& other : others) {
        other.join();
    }
}

}  // namespace wiretrial
