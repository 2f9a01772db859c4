// A blocking stream to a server: bytes out, bytes in, over TCP or OpenSSL.
//
// Knows sockets and certificates; must not know any protocol.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

#include "job.hpp"
#include "watchdog.hpp"

// Every call throws a std::runtime_error that says what failed. None has a timeout of its own:
// they are made inside `Watchdog::watch`, which calls `shut_down`.
class Stream {
 public:
  // Connects to the host of the job, over TLS where its scheme says so. The watchdog bounds the
  // name's resolution no more than the system's resolver does.
  Stream(const driver::Job& job, driver::Watchdog& watchdog);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Sends all of `bytes`.
  void send(std::string_view bytes);
  // Receives what there is, at least a byte and at most `size`.
  std::size_t receive(char* buffer, std::size_t size);
  // Makes a call that waits in another thread return.
  void shut_down() noexcept;

 private:
  void connect_tcp(const driver::Job& job, driver::Watchdog& watchdog);
  void connect_tls(const driver::Job& job);
  void close() noexcept;

  struct FreeSsl {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  int socket_ = -1;
  std::unique_ptr<SSL_CTX, FreeSsl> context_;
  std::unique_ptr<SSL, FreeSsl> ssl_;
};
