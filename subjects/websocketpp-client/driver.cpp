// WebSocket++ with standalone Asio, on the thread of the loop: no other thread is started.
#include "driver.hpp"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <websocketpp/client.hpp>
#include <websocketpp/config/asio_client.hpp>

#include "failure.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using driver::Job;
using Plain = websocketpp::client<websocketpp::config::asio_client>;
using Secure = websocketpp::client<websocketpp::config::asio_tls_client>;
using websocketpp::connection_hdl;

constexpr std::size_t kLargestMessage = std::size_t{1} << 30;

std::shared_ptr<asio::ssl::context> tls_context(const Job& job) {
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
  context->load_verify_file(job.ca_file);
  context->set_verify_mode(asio::ssl::verify_peer);
  context->set_verify_callback(asio::ssl::host_name_verification(job.url.host));
  return context;
}

template <typename Client>
class WebSocketClient : public driver::Connection {
 public:
  explicit WebSocketClient(const Job& job) : job_(job) {
    prepare();
    websocketpp::lib::error_code failed;
    connection_ = client_.get_connection(job.url.text, failed);
    if (failed) throw std::runtime_error(failed.message());
    client_.connect(connection_);
    run_until([this] { return connection_->get_state() == websocketpp::session::state::open; });
  }

  ~WebSocketClient() override {
    if (ended_) return;
    try {
      connection_->close(websocketpp::close::status::normal, "");
      run_until([this] { return ended_; });
    } catch (const std::exception&) {
      // The connection is gone already, which is what was wanted.
    }
  }

  std::string_view exchange() override {
    reply_.reset();
    const auto failed = connection_->send(job_.message, websocketpp::frame::opcode::binary);
    if (failed) throw std::runtime_error(failed.message());
    run_until([this] { return reply_ != nullptr; });
    if (reply_->get_opcode() != websocketpp::frame::opcode::binary) {
      throw std::runtime_error("wrong reply: a text message");
    }
    return reply_->get_payload();
  }

  std::optional<std::uint64_t> opened() const override { return 1; }

 private:
  void prepare() {
    client_.clear_access_channels(websocketpp::log::alevel::all);
    client_.clear_error_channels(websocketpp::log::elevel::all);
    client_.set_max_message_size(kLargestMessage);
    client_.init_asio();
    client_.set_message_handler(
        [this](connection_hdl, typename Client::message_ptr message) { reply_ = message; });
    client_.set_fail_handler([this](connection_hdl) { ended_ = true; });
    client_.set_close_handler([this](connection_hdl) { ended_ = true; });
    if (job_.tuned) {
      client_.set_tcp_post_init_handler([this](connection_hdl) {
        connection_->get_raw_socket().set_option(asio::ip::tcp::no_delay(true));
      });
    }
    if constexpr (std::is_same_v<Client, Secure>) {
      client_.set_tls_init_handler([this](connection_hdl) { return tls_context(job_); });
    }
  }

  // Runs what is ready, one handler after the other, until `done`.
  template <typename Done>
  void run_until(Done done) {
    const auto deadline = Clock::now() + job_.timeout;
    while (!done()) {
      if (ended_) throw std::runtime_error(why_ended());
      client_.get_io_service().run_one_until(deadline);
      if (Clock::now() < deadline) continue;
      ended_ = true;
      throw driver::Timeout(job_.timeout);
    }
  }

  std::string why_ended() const {
    const auto of_protocol = connection_->get_ec();
    const auto of_transport = connection_->get_transport_ec();
    if (!of_protocol) return "the server closed the WebSocket";
    return of_protocol.message() + (of_transport ? ": " + of_transport.message() : "");
  }

  const Job& job_;
  Client client_;
  typename Client::connection_ptr connection_;
  typename Client::message_ptr reply_;
  bool ended_ = false;
};

std::unique_ptr<driver::Connection> make_client(const Job& job) {
  if (job.url.secure()) return std::make_unique<WebSocketClient<Secure>>(job);
  return std::make_unique<WebSocketClient<Plain>>(job);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string version = std::to_string(websocketpp::major_version) + "." +
                              std::to_string(websocketpp::minor_version) + "." +
                              std::to_string(websocketpp::patch_version);
  return driver::run(argc, argv, {"WebSocket++ " + version, "ws wss", make_client});
}
