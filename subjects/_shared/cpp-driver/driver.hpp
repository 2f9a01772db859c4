// The face of the C++ client drivers: what one gives about its library, and the whole run.
//
// Knows the command line, the loop, the verification and the line of JSON that every driver shares;
// must not know any library under test. A driver is a `main` that calls `driver::run`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "job.hpp"

namespace driver {

// A client object of the library under test, with at most one connection at a time.
//
// What fails is thrown as a std::exception that says in words what went wrong. After that the
// object is destroyed and the next iteration makes a new one.
class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  // Sends the message of the job once and returns the content of its reply, which stays valid
  // until the next call.
  virtual std::string_view exchange() = 0;

  // How many connections this object has opened so far; nothing where the library does not tell.
  virtual std::optional<std::uint64_t> opened() const = 0;
};

struct Library {
  // Name and version, such as "libcurl 8.22.0".
  std::string name;
  // Schemes that it speaks, separated by blanks.
  std::string schemes;
  // Makes a client; whether it connects now or with its first exchange is the library's habit.
  std::function<std::unique_ptr<Connection>(const Job&)> open;
};

// Carries out the command line and returns the exit code: 0 good, 1 it can't go on, 2 bad usage.
int run(int argc, char** argv, const Library& library);

}  // namespace driver
