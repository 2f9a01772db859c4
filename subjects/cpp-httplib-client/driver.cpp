// cpp-httplib's client.
#include "driver.hpp"

#include <httplib.h>

#include <memory>
#include <stdexcept>

#include "failure.hpp"
#include "watchdog.hpp"

namespace {

using driver::Job;

class HttpClient : public driver::Connection {
 public:
  HttpClient(const Job& job, driver::Watchdog& watchdog)
      : job_(job), watchdog_(watchdog), client_(job.url.scheme + "://" + job.url.authority()) {
    client_.set_keep_alive(job.kept);
    client_.set_connection_timeout(job.timeout);
    client_.set_read_timeout(job.timeout);
    client_.set_write_timeout(job.timeout);
    client_.set_tcp_nodelay(job.tuned);
    client_.set_socket_options([this](socket_t socket) {
      httplib::default_socket_options(socket);
      ++opened_;
    });
    if (job.url.secure()) client_.set_ca_cert_path(job.ca_file);
  }

  std::string_view exchange() override {
    auto result = watchdog_.watch([this] { client_.stop(); }, [this] { return request(); });
    if (!result) throw std::runtime_error("cpp-httplib: " + to_string(result.error()));
    driver::check_status(result->status);
    reply_ = std::move(result->body);
    return reply_;
  }

  std::optional<std::uint64_t> opened() const override { return opened_; }

 private:
  httplib::Result request() {
    if (job_.message.empty()) return client_.Get(job_.url.target);
    return client_.Post(job_.url.target, job_.message.data(), job_.message.size(),
                        "application/octet-stream");
  }

  const Job& job_;
  driver::Watchdog& watchdog_;
  std::uint64_t opened_ = 0;
  httplib::Client client_;
  std::string reply_;
};

std::unique_ptr<driver::Connection> make_client(const Job& job) {
  static driver::Watchdog watchdog(job.timeout);
  return std::make_unique<HttpClient>(job, watchdog);
}

}  // namespace

int main(int argc, char** argv) {
  return driver::run(argc, argv, {"cpp-httplib " CPPHTTPLIB_VERSION, "http https", make_client});
}
