// Boost.Beast through its synchronous calls, as in its own client examples.
#include "driver.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/version.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/version.hpp>
#include <memory>
#include <optional>
#include <stdexcept>

#include "failure.hpp"
#include "watchdog.hpp"

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;

using asio::ip::tcp;
using driver::Job;
using driver::Watchdog;
using Plain = beast::tcp_stream;
using Secure = beast::ssl_stream<beast::tcp_stream>;

constexpr std::uint64_t kLargestMessage = std::uint64_t{1} << 30;

// A connected stream. Synchronous calls of Asio take no timeout, so a watchdog shuts its socket.
template <typename Stream>
class Link {
 public:
  Link(const Job& job, Watchdog& watchdog) : watchdog_(watchdog) {
    if constexpr (std::is_same_v<Stream, Secure>) {
      context_.emplace(asio::ssl::context::tls_client);
      context_->load_verify_file(job.ca_file);
      context_->set_verify_mode(asio::ssl::verify_peer);
      stream_ = std::make_unique<Secure>(io_, *context_);
    } else {
      stream_ = std::make_unique<Plain>(io_);
    }
    const auto addresses = tcp::resolver(io_).resolve(job.url.host, job.url.port);
    watch([&] { connect(job, addresses); });
  }

  // Shuts the stream down in form, where it is still whole.
  ~Link() {
    if (broken_) return;
    beast::error_code ignored;
    if constexpr (std::is_same_v<Stream, Secure>) {
      try {
        watch([&] { stream_->shutdown(ignored); });
      } catch (const std::exception&) {
        return;
      }
    }
    lowest().socket().shutdown(tcp::socket::shutdown_both, ignored);
  }

  // Runs a call on the stream under the timeout of the job.
  template <typename Call>
  auto watch(Call&& call) {
    try {
      return watchdog_.watch([this] { ::shutdown(lowest().socket().native_handle(), SHUT_RDWR); },
                             call);
    } catch (...) {
      broken_ = true;
      throw;
    }
  }

  Stream& stream() { return *stream_; }

 private:
  void connect(const Job& job, const tcp::resolver::results_type& addresses) {
    lowest().connect(addresses);
    if (job.tuned) lowest().socket().set_option(tcp::no_delay(true));
    if constexpr (std::is_same_v<Stream, Secure>) {
      if (!job.url.is_address()) {
        SSL_set_tlsext_host_name(stream_->native_handle(), job.url.host.c_str());
      }
      stream_->set_verify_callback(asio::ssl::host_name_verification(job.url.host));
      stream_->handshake(asio::ssl::stream_base::client);
    }
  }

  Plain& lowest() { return beast::get_lowest_layer(*stream_); }

  Watchdog& watchdog_;
  asio::io_context io_;
  std::optional<asio::ssl::context> context_;
  std::unique_ptr<Stream> stream_;
  bool broken_ = false;
};

template <typename Stream>
class HttpClient : public driver::Connection {
 public:
  HttpClient(const Job& job, Watchdog& watchdog) : job_(job), watchdog_(watchdog) {
    request_.method(job.message.empty() ? http::verb::get : http::verb::post);
    request_.target(job.url.target);
    request_.version(11);
    request_.set(http::field::host, job.url.authority());
    if (!job.message.empty()) {
      request_.set(http::field::content_type, "application/octet-stream");
      request_.body() = job.message;
      request_.prepare_payload();
    }
    reconnect();
  }

  std::string_view exchange() override {
    if (!keeps_) reconnect();
    http::response_parser<http::string_body> parser;
    parser.body_limit(kLargestMessage);
    link_->watch([&] {
      http::write(link_->stream(), request_);
      http::read(link_->stream(), buffer_, parser);
    });
    response_ = parser.release();
    keeps_ = response_.keep_alive();
    driver::check_status(response_.result_int());
    return response_.body();
  }

  std::optional<std::uint64_t> opened() const override { return opened_; }

 private:
  void reconnect() {
    link_ = std::make_unique<Link<Stream>>(job_, watchdog_);
    buffer_.clear();
    ++opened_;
  }

  const Job& job_;
  Watchdog& watchdog_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
  beast::flat_buffer buffer_;
  std::unique_ptr<Link<Stream>> link_;
  std::uint64_t opened_ = 0;
  bool keeps_ = true;
};

template <typename Stream>
class WebSocketClient : public driver::Connection {
 public:
  WebSocketClient(const Job& job, Watchdog& watchdog)
      : job_(job), link_(job, watchdog), socket_(link_.stream()) {
    socket_.binary(true);
    socket_.read_message_max(kLargestMessage);
    if (job.tuned) socket_.auto_fragment(false);
    link_.watch([this] { socket_.handshake(job_.url.authority(), job_.url.target); });
  }

  ~WebSocketClient() override {
    if (!socket_.is_open()) return;
    try {
      link_.watch([this] { socket_.close(websocket::close_code::normal); });
    } catch (const std::exception&) {
      // The connection is gone already, which is what was wanted.
    }
  }

  std::string_view exchange() override {
    buffer_.clear();
    link_.watch([this] {
      socket_.write(asio::buffer(job_.message));
      socket_.read(buffer_);
    });
    if (!socket_.got_binary()) throw std::runtime_error("wrong reply: a text message");
    return {static_cast<const char*>(buffer_.data().data()), buffer_.size()};
  }

  std::optional<std::uint64_t> opened() const override { return 1; }

 private:
  const Job& job_;
  Link<Stream> link_;
  websocket::stream<Stream&> socket_;
  beast::flat_buffer buffer_;
};

std::unique_ptr<driver::Connection> make_client(const Job& job) {
  static Watchdog watchdog(job.timeout);
  const std::string& scheme = job.url.scheme;
  if (scheme == "http") return std::make_unique<HttpClient<Plain>>(job, watchdog);
  if (scheme == "https") return std::make_unique<HttpClient<Secure>>(job, watchdog);
  if (scheme == "ws") return std::make_unique<WebSocketClient<Plain>>(job, watchdog);
  return std::make_unique<WebSocketClient<Secure>>(job, watchdog);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string boost = std::to_string(BOOST_VERSION / 100000) + "." +
                            std::to_string(BOOST_VERSION / 100 % 1000) + "." +
                            std::to_string(BOOST_VERSION % 100);
  return driver::run(argc, argv,
                     {"Boost.Beast of Boost " + boost, "http https ws wss", make_client});
}
