// The C++ REST SDK: http_client and websocket_client, waiting for each of their tasks.
#include "driver.hpp"

#include <cpprest/containerstream.h>
#include <cpprest/http_client.h>
#include <cpprest/rawptrstream.h>
#include <cpprest/version.h>
#include <cpprest/ws_client.h>
#include <dirent.h>
#include <pplx/threadpool.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "failure.hpp"
#include "watchdog.hpp"

namespace {

using boost::asio::ip::tcp;
using driver::Job;
using driver::Watchdog;
using namespace web;

// Trusts what the job names and nothing else. The SDK has loaded the system's authorities by now.
void trust_only(const Job& job, boost::asio::ssl::context& context) {
  SSL_CTX_set_cert_store(context.native_handle(), X509_STORE_new());
  context.load_verify_file(job.ca_file);
}

// The SDK hands out no handle of its sockets that another thread may use. The only connections of
// this process are the client's, so a late call is ended by shutting every socket.
void shut_all_sockets() {
  DIR* folder = opendir("/proc/self/fd");
  if (!folder) return;
  while (const dirent* entry = readdir(folder)) {
    const int descriptor = std::atoi(entry->d_name);
    if (descriptor > STDERR_FILENO) shutdown(descriptor, SHUT_RDWR);  // fails on what is no socket
  }
  closedir(folder);
}

class HttpClient : public driver::Connection {
 public:
  HttpClient(const Job& job, Watchdog& watchdog)
      : job_(job),
        watchdog_(watchdog),
        client_(job.url.scheme + "://" + job.url.authority(), configuration()) {}

  std::string_view exchange() override {
    sent_ = 0;
    watchdog_.watch(shut_all_sockets, [this] { request(); });
    if (sent_ > 1) {
      throw std::runtime_error("the connection was lost, and the SDK sent the request again");
    }
    return {reinterpret_cast<const char*>(reply_.data()), reply_.size()};
  }

  std::optional<std::uint64_t> opened() const override { return opened_; }

 private:
  http::client::http_client_config configuration() {
    http::client::http_client_config config;
    config.set_timeout(std::chrono::duration_cast<std::chrono::microseconds>(job_.timeout));
    config.set_ssl_context_callback([this](auto& context) { trust_only(job_, context); });
    config.set_nativehandle_options([this](http::client::native_handle handle) { count(handle); });
    return config;
  }

  // Called before each sending, with a socket that is open if it was used before. The SDK sends a
  // request again, unasked, when a kept connection breaks before its reply.
  void count(http::client::native_handle handle) {
    const bool is_open =
        job_.url.secure()
            ? static_cast<boost::asio::ssl::stream<tcp::socket&>*>(handle)->lowest_layer().is_open()
            : static_cast<tcp::socket*>(handle)->is_open();
    if (!is_open) ++opened_;
    ++sent_;
  }

  void request() {
    http::http_request request(job_.message.empty() ? http::methods::GET : http::methods::POST);
    request.set_request_uri(job_.url.target);
    if (!job_.message.empty()) request.set_body(job_.message, "application/octet-stream");
    const http::http_response response = client_.request(request).get();
    driver::check_status(response.status_code());
    reply_ = response.extract_vector().get();
  }

  const Job& job_;
  Watchdog& watchdog_;
  std::atomic<std::uint64_t> opened_ = 0;
  std::atomic<int> sent_ = 0;
  std::vector<unsigned char> reply_;
  http::client::http_client client_;
};

class WebSocketClient : public driver::Connection {
 public:
  WebSocketClient(const Job& job, Watchdog& watchdog)
      : job_(job), watchdog_(watchdog), client_(configuration()) {
    watchdog_.watch(shut_all_sockets, [this] { client_.connect(job_.url.text).get(); });
  }

  ~WebSocketClient() override {
    try {
      watchdog_.watch(shut_all_sockets, [this] { client_.close().get(); });
    } catch (const std::exception&) {
      // The connection is gone already, which is what was wanted.
    }
  }

  std::string_view exchange() override {
    watchdog_.watch(shut_all_sockets, [this] { echo(); });
    return reply_;
  }

  std::optional<std::uint64_t> opened() const override { return 1; }

 private:
  websockets::client::websocket_client_config configuration() {
    websockets::client::websocket_client_config config;
    config.set_ssl_context_callback([this](auto& context) { trust_only(job_, context); });
    return config;
  }

  void echo() {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(job_.message.data());
    const concurrency::streams::rawptr_buffer<std::uint8_t> content(bytes, job_.message.size());
    websockets::client::websocket_outgoing_message message;
    message.set_binary_message(content.create_istream(), job_.message.size());
    client_.send(message).get();

    const auto reply = client_.receive().get();
    if (reply.message_type() != websockets::client::websocket_message_type::binary_message) {
      throw std::runtime_error("wrong reply: not a binary message");
    }
    concurrency::streams::container_buffer<std::string> buffer;
    reply.body().read_to_end(buffer).get();
    reply_ = std::move(buffer.collection());
  }

  const Job& job_;
  Watchdog& watchdog_;
  std::string reply_;
  websockets::client::websocket_client client_;
};

std::unique_ptr<driver::Connection> make_client(const Job& job) {
  static Watchdog watchdog(job.timeout);
  const bool is_http = job.url.scheme == "http" || job.url.scheme == "https";
  if (is_http) return std::make_unique<HttpClient>(job, watchdog);
  return std::make_unique<WebSocketClient>(job, watchdog);
}

}  // namespace

int main(int argc, char** argv) {
  // A connection goes back to the pool of its client behind the task that hands over the reply.
  // With one thread it is there before the next request; with more, that request may open another.
  crossplat::threadpool::initialize_with_threads(1);
  const std::string version = std::to_string(CPPREST_VERSION_MAJOR) + "." +
                              std::to_string(CPPREST_VERSION_MINOR) + "." +
                              std::to_string(CPPREST_VERSION_REVISION);
  return driver::run(argc, argv, {"C++ REST SDK " + version, "http https ws wss", make_client});
}
