// What the command line asks for, read and checked once, before anything is measured.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace driver {

struct Url {
  std::string text;
  std::string scheme;
  std::string host;  // without the brackets of an IPv6 address
  std::string port;
  std::string target;  // path and query, "/" where there is none

  // Whether the scheme is one inside TLS.
  bool secure() const;
  // Whether the host is an IP address, which certificates name in another way than a host name.
  bool is_address() const;
  // Host and port as a Host header and an origin write them.
  std::string authority() const;
};

struct Job {
  Url url;
  std::string message;   // what every iteration sends; empty: a GET where the scheme is http
  std::string expected;  // what every reply must be
  std::uint64_t warmup = 0;
  std::uint64_t iterations = 0;
  std::uint64_t repetitions = 0;
  bool kept = true;
  bool tuned = false;
  bool http2 = false;  // HTTP/2 and nothing else
  std::string ca_file;
  std::chrono::nanoseconds timeout = std::chrono::seconds(10);
};

// The command line is wrong; the text says what and how to mend it.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Reads the words after the program's name; `schemes` are those the library speaks. Throws
// UsageError.
Job parse_job(int argc, char** argv, std::string_view schemes);

}  // namespace driver
