// libcurl through its easy interface: requests of HTTP, and its own WebSocket calls.
#include "driver.hpp"

#include <curl/curl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <stdexcept>

#include "failure.hpp"
#include "watchdog.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using driver::Job;

struct Free {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

// An easy handle with what both protocols need.
class Handle {
 public:
  explicit Handle(const Job& job) : timeout_(job.timeout), handle_(curl_easy_init()) {
    if (!handle_) throw std::runtime_error("curl_easy_init failed");
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(job.timeout).count();
    set(CURLOPT_URL, job.url.text.c_str());
    set(CURLOPT_ERRORBUFFER, error_);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_PROXY, "");  // whatever the environment says
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(milliseconds));
    if (job.url.secure()) {
      set(CURLOPT_CAINFO, job.ca_file.c_str());
      set(CURLOPT_CAPATH, nullptr);
    }
  }

  template <typename Value>
  void set(CURLoption option, Value value) {
    check(curl_easy_setopt(handle_.get(), option, value));
  }

  template <typename Value>
  Value get(CURLINFO what) const {
    Value value{};
    curl_easy_getinfo(handle_.get(), what, &value);
    return value;
  }

  void perform() { check(curl_easy_perform(handle_.get())); }

  // Throws what libcurl says of a failed call.
  void check(CURLcode code) const {
    if (code == CURLE_OK) return;
    if (code == CURLE_OPERATION_TIMEDOUT) throw driver::Timeout(timeout_);
    throw std::runtime_error(error_[0] != '\0' ? error_ : curl_easy_strerror(code));
  }

  CURL* get() { return handle_.get(); }

 private:
  char error_[CURL_ERROR_SIZE] = "";
  const std::chrono::nanoseconds timeout_;
  std::unique_ptr<CURL, Free> handle_;
};

class HttpClient : public driver::Connection {
 public:
  explicit HttpClient(const Job& job) : handle_(job), http2_(job.http2) {
    // Built with HTTP/2, libcurl would offer both inside TLS.
    handle_.set(CURLOPT_HTTP_VERSION, static_cast<long>(http2_ ? CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
                                                               : CURL_HTTP_VERSION_1_1));
    handle_.set(CURLOPT_WRITEFUNCTION, &HttpClient::take);
    handle_.set(CURLOPT_WRITEDATA, &reply_);
    reply_.reserve(job.expected.size());
    if (job.message.empty()) return;
    handle_.set(CURLOPT_POSTFIELDS, job.message.data());
    handle_.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(job.message.size()));
    add_header("Content-Type: application/octet-stream");
    if (job.tuned) add_header("Expect:");
    handle_.set(CURLOPT_HTTPHEADER, headers_.get());
  }

  std::string_view exchange() override {
    reply_.clear();
    handle_.perform();
    opened_ += static_cast<std::uint64_t>(handle_.get<long>(CURLINFO_NUM_CONNECTS));
    refuse_repetition();
    if (http2_ && handle_.get<long>(CURLINFO_HTTP_VERSION) != CURL_HTTP_VERSION_2_0) {
      throw std::runtime_error("the reply is not in HTTP/2");
    }
    driver::check_status(handle_.get<long>(CURLINFO_RESPONSE_CODE));
    return reply_;
  }

  std::optional<std::uint64_t> opened() const override { return opened_; }

 private:
  static std::size_t take(char* data, std::size_t, std::size_t size, void* reply) {
    static_cast<std::string*>(reply)->append(data, size);
    return size;
  }

  void add_header(const char* line) {
    curl_slist* longer = curl_slist_append(headers_.get(), line);
    if (!longer) throw std::bad_alloc();
    headers_.release();
    headers_.reset(longer);
  }

  // libcurl sends a request again, unasked, when a kept connection breaks before the first byte of
  // its reply. The bytes of all its tries tell; a lost connection is a failure here.
  void refuse_repetition() {
    const long size = handle_.get<long>(CURLINFO_REQUEST_SIZE);
    if (request_size_ == 0) request_size_ = size;
    if (size > request_size_) {
      throw std::runtime_error("the connection was lost, and libcurl sent the request again");
    }
  }

  Handle handle_;
  const bool http2_;
  std::unique_ptr<curl_slist, Free> headers_;
  std::string reply_;
  std::uint64_t opened_ = 0;
  long request_size_ = 0;
};

class WebSocketClient : public driver::Connection {
 public:
  WebSocketClient(const Job& job, driver::Watchdog& watchdog) : job_(job), handle_(job) {
    reply_.resize(job.expected.size() + 1);
    handle_.set(CURLOPT_CONNECT_ONLY, 2L);  // up to and with the upgrade
    handle_.set(CURLOPT_OPENSOCKETFUNCTION, &WebSocketClient::open_socket);
    handle_.set(CURLOPT_OPENSOCKETDATA, this);
    // CURLOPT_TIMEOUT_MS does not hold for CURLOPT_CONNECT_ONLY.
    watchdog.watch([this] { shutdown(socket_, SHUT_RDWR); }, [this] { handle_.perform(); });
  }

  ~WebSocketClient() override {
    std::size_t sent = 0;
    curl_ws_send(handle_.get(), "\x03\xE8", 2, &sent, 0, CURLWS_CLOSE);
  }

  std::string_view exchange() override {
    const auto deadline = Clock::now() + job_.timeout;
    send(deadline);
    return receive(deadline);
  }

  std::optional<std::uint64_t> opened() const override { return 1; }

 private:
  static curl_socket_t open_socket(void* client, curlsocktype, curl_sockaddr* address) {
    auto& socket_of_client = static_cast<WebSocketClient*>(client)->socket_;
    socket_of_client = socket(address->family, address->socktype, address->protocol);
    return socket_of_client;
  }

  void send(Clock::time_point deadline) {
    std::string_view left = job_.message;
    while (true) {
      std::size_t sent = 0;
      const CURLcode code =
          curl_ws_send(handle_.get(), left.data(), left.size(), &sent, 0, CURLWS_BINARY);
      if (code != CURLE_AGAIN) handle_.check(code);
      left.remove_prefix(sent);
      if (code == CURLE_OK && left.empty()) return;
      wait_for(POLLOUT, deadline);
    }
  }

  std::string_view receive(Clock::time_point deadline) {
    std::size_t filled = 0;
    while (true) {
      if (filled == reply_.size()) throw std::runtime_error("wrong reply: longer than expected");
      std::size_t received = 0;
      const curl_ws_frame* frame = nullptr;
      const CURLcode code = curl_ws_recv(handle_.get(), reply_.data() + filled,
                                         reply_.size() - filled, &received, &frame);
      if (code == CURLE_AGAIN) {
        wait_for(POLLIN, deadline);
        continue;
      }
      handle_.check(code);
      if (frame->flags & CURLWS_CLOSE) throw std::runtime_error("the server closed the WebSocket");
      if (frame->flags & CURLWS_TEXT) throw std::runtime_error("wrong reply: a text message");
      if (!(frame->flags & CURLWS_BINARY)) continue;  // libcurl answers a ping by itself
      filled += received;
      const bool is_end = frame->bytesleft == 0 && !(frame->flags & CURLWS_CONT);
      if (is_end) return {reply_.data(), filled};
    }
  }

  // The calls for WebSocket never wait; their documentation leaves that to the caller's poll.
  void wait_for(short events, Clock::time_point deadline) const {
    pollfd watched{socket_, events, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const int ready = left > 0 ? poll(&watched, 1, static_cast<int>(left)) : 0;
    if (ready == 0) throw driver::Timeout(job_.timeout);
    if (ready < 0 && errno != EINTR) throw std::runtime_error("poll failed");
  }

  const Job& job_;
  Handle handle_;
  std::atomic<curl_socket_t> socket_ = CURL_SOCKET_BAD;
  std::string reply_;
};

std::unique_ptr<driver::Connection> make_client(const Job& job) {
  const bool is_http = job.url.scheme == "http" || job.url.scheme == "https";
  if (is_http) return std::make_unique<HttpClient>(job);
  static driver::Watchdog watchdog(job.timeout);
  return std::make_unique<WebSocketClient>(job, watchdog);
}

}  // namespace

int main(int argc, char** argv) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::string version = curl_version_info(CURLVERSION_NOW)->version;
  return driver::run(argc, argv, {"libcurl " + version, "http https ws wss", make_client});
}
