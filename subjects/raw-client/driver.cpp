// The baseline: sockets and OpenSSL, with requests and frames written by hand.
//
// It does what a client must at least do, so that the others show what their library adds.
#include "driver.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <optional>

#include "http.hpp"
#include "stream.hpp"
#include "watchdog.hpp"
#include "websocket.hpp"

namespace {

using driver::Job;
using driver::Watchdog;

// Bytes and their echo.
class EchoClient : public driver::Connection {
 public:
  EchoClient(const Job& job, Watchdog& watchdog)
      : message_(job.message), watchdog_(watchdog), stream_(job, watchdog) {
    reply_.resize(message_.size());
  }

  std::string_view exchange() override {
    return watchdog_.watch([this] { stream_.shut_down(); }, [this] { return echo(); });
  }

  std::optional<std::uint64_t> opened() const override { return 1; }

 private:
  // A larger message than this is sent in turns with its echo. Two ends that only write to each
  // other would wait for ever once the buffers between them are full.
  static constexpr std::size_t kUnanswered = 64 * 1024;

  std::string_view echo() {
    std::size_t sent = 0;
    std::size_t received = 0;
    while (received < message_.size()) {
      const std::size_t goal = std::min(received + kUnanswered, message_.size());
      if (sent < goal) stream_.send(std::string_view(message_).substr(sent, goal - sent));
      sent = goal;
      received += stream_.receive(reply_.data() + received, reply_.size() - received);
    }
    return reply_;
  }

  const std::string& message_;
  Watchdog& watchdog_;
  Stream stream_;
  std::string reply_;
};

class HttpClient : public driver::Connection {
 public:
  HttpClient(const Job& job, Watchdog& watchdog) : job_(job), watchdog_(watchdog), http_(job) {
    reconnect();
  }

  std::string_view exchange() override {
    if (http_.closing()) reconnect();
    return watchdog_.watch([this] { stream_->shut_down(); },
                           [this] { return http_.exchange(*stream_); });
  }

  std::optional<std::uint64_t> opened() const override { return opened_; }

 private:
  void reconnect() {
    stream_.emplace(job_, watchdog_);
    ++opened_;
  }

  const Job& job_;
  Watchdog& watchdog_;
  Http http_;
  std::optional<Stream> stream_;
  std::uint64_t opened_ = 0;
};

class WebSocketClient : public driver::Connection {
 public:
  WebSocketClient(const Job& job, Watchdog& watchdog)
      : watchdog_(watchdog), socket_(job), stream_(job, watchdog) {
    watchdog_.watch([this] { stream_.shut_down(); }, [this] { socket_.open(stream_); });
  }

  ~WebSocketClient() override {
    try {
      watchdog_.watch([this] { stream_.shut_down(); }, [this] { socket_.close(stream_); });
    } catch (const std::exception&) {
      // The connection is gone already, which is what was wanted.
    }
  }

  std::string_view exchange() override {
    return watchdog_.watch([this] { stream_.shut_down(); },
                           [this] { return socket_.exchange(stream_); });
  }

  std::optional<std::uint64_t> opened() const override { return 1; }

 private:
  Watchdog& watchdog_;
  WebSocket socket_;
  Stream stream_;
};

std::unique_ptr<driver::Connection> make_client(const Job& job) {
  static Watchdog watchdog(job.timeout);
  const std::string& scheme = job.url.scheme;
  if (scheme == "tcp" || scheme == "tls") return std::make_unique<EchoClient>(job, watchdog);
  if (scheme == "ws" || scheme == "wss") return std::make_unique<WebSocketClient>(job, watchdog);
  return std::make_unique<HttpClient>(job, watchdog);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string openssl = OpenSSL_version(OPENSSL_VERSION_STRING);
  return driver::run(argc, argv,
                     {"sockets, OpenSSL " + openssl, "http https ws wss tcp tls", make_client});
}
