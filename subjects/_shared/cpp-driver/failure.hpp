// What every client says in the same words when no good reply came.
#pragma once

#include <chrono>
#include <sstream>
#include <stdexcept>
#include <string>

namespace driver {

struct Timeout : std::runtime_error {
  explicit Timeout(std::chrono::nanoseconds bound) : std::runtime_error(text(bound)) {}

 private:
  static std::string text(std::chrono::nanoseconds bound) {
    std::ostringstream text;
    text << "timeout: no reply in " << std::chrono::duration<double>(bound).count() << " s";
    return text.str();
  }
};

// Throws unless an HTTP reply has the status that the contract asks for.
inline void check_status(long status) {
  if (status != 200) throw std::runtime_error("wrong status: " + std::to_string(status));
}

}  // namespace driver
