#include "stream.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace {

constexpr char kPeerClosed[] = "the server closed the connection";

std::runtime_error system_error(const std::string& what) {
  return std::runtime_error(what + ": " + std::strerror(errno));
}

std::runtime_error tls_error(const std::string& what, const SSL* ssl = nullptr) {
  const long verdict = ssl ? SSL_get_verify_result(ssl) : X509_V_OK;
  const char* reason = verdict != X509_V_OK ? X509_verify_cert_error_string(verdict)
                                            : ERR_reason_error_string(ERR_peek_last_error());
  return std::runtime_error(what + ": " + (reason ? reason : kPeerClosed));
}

}  // namespace

Stream::Stream(const driver::Job& job, driver::Watchdog& watchdog) {
  try {
    connect_tcp(job, watchdog);
    if (!job.url.secure()) return;
    watchdog.watch([this] { shut_down(); }, [&] { connect_tls(job); });
  } catch (...) {
    close();
    throw;
  }
}

Stream::~Stream() { close(); }

void Stream::send(std::string_view bytes) {
  while (!bytes.empty()) {
    if (ssl_) {
      ERR_clear_error();
      const int sent = SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
      if (sent <= 0) throw tls_error("can't send");
      return;
    }
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) throw system_error("can't send");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::size_t Stream::receive(char* buffer, std::size_t size) {
  if (ssl_) {
    ERR_clear_error();
    const int received = SSL_read(ssl_.get(), buffer, static_cast<int>(size));
    if (received <= 0) throw tls_error("can't receive");
    return static_cast<std::size_t>(received);
  }
  const ssize_t received = ::recv(socket_, buffer, size, 0);
  if (received < 0) throw system_error("can't receive");
  if (received == 0) throw std::runtime_error(kPeerClosed);
  return static_cast<std::size_t>(received);
}

void Stream::shut_down() noexcept { ::shutdown(socket_, SHUT_RDWR); }

void Stream::connect_tcp(const driver::Job& job, driver::Watchdog& watchdog) {
  const std::string cannot = "can't connect to " + job.url.authority();
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(job.url.host.c_str(), job.url.port.c_str(), &hints, &found);
  if (failed != 0) throw std::runtime_error(cannot + ": " + gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, &freeaddrinfo);

  for (const addrinfo* address = found; address; address = address->ai_next) {
    close();
    socket_ = ::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0) continue;
    const int connected =
        watchdog.watch([this] { shut_down(); },
                       [&] { return ::connect(socket_, address->ai_addr, address->ai_addrlen); });
    if (connected != 0) continue;
    const int on = 1;
    if (job.tuned) setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return;
  }
  throw system_error(cannot);
}

void Stream::connect_tls(const driver::Job& job) {
  context_.reset(SSL_CTX_new(TLS_client_method()));
  if (!context_) throw tls_error("can't set up TLS");
  if (SSL_CTX_load_verify_locations(context_.get(), job.ca_file.c_str(), nullptr) != 1) {
    throw tls_error("can't use " + job.ca_file);
  }
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  ssl_.reset(SSL_new(context_.get()));
  if (!ssl_ || SSL_set_fd(ssl_.get(), socket_) != 1) throw tls_error("can't set up TLS");

  const char* host = job.url.host.c_str();
  const bool named =
      job.url.is_address()
          ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), host) == 1
          : SSL_set1_host(ssl_.get(), host) == 1 && SSL_set_tlsext_host_name(ssl_.get(), host) == 1;
  if (!named) throw tls_error("can't set up TLS");
  ERR_clear_error();
  if (SSL_connect(ssl_.get()) != 1) throw tls_error("can't set up TLS", ssl_.get());
}

void Stream::close() noexcept {
  if (socket_ < 0) return;
  ::close(socket_);
  socket_ = -1;
}
