// libwebsockets: one context on the library's own loop, with a virtual host for plain connections
// and one for TLS.

#include <libwebsockets.h>

#include <stdexcept>
#include <string>

#include "echo.hpp"
#include "http.hpp"
#include "shared/cpp-server/options.hpp"

namespace {

using wiretrial::Options;

/// What the library's documentation names as a size for throughput.
constexpr unsigned LARGE_BUFFER = 128 * 1024;
/// What its echo example has.
constexpr unsigned SMALL_BUFFER = 1024;

void add_host(
    lws_context* context, lws_context_creation_info info, const char* name, std::uint16_t port);

void serve(const Options& options) {
    const unsigned buffer_size = options.tuned ? LARGE_BUFFER : SMALL_BUFFER;
    // Plain requests go to the first protocol, an upgrade that names none to the one chosen here.
    const lws_protocols protocols[] = {
        http_protocol(buffer_size), echo_protocol(buffer_size), {}};
    const lws_protocol_vhost_options is_default{nullptr, nullptr, "default", "1"};
    const lws_protocol_vhost_options upgrades{nullptr, &is_default, "echo", ""};

    lws_context_creation_info info{};
    info.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
    if (options.host.find(':') == std::string::npos) {
        // With IPv6 it would listen on every address, and a second copy on another one not at all.
        info.options |= LWS_SERVER_OPTION_DISABLE_IPV6;
    }
    if (options.tuned) {
        lws_set_log_level(0, nullptr);
        info.pt_serv_buf_size = LARGE_BUFFER;
    }
    lws_context* context = lws_create_context(&info);
    if (!context) {
        throw std::runtime_error("libwebsockets can't make a context");
    }

    info.iface = options.host.c_str();
    info.protocols = protocols;
    info.pvo = &upgrades;
    add_host(context, info, "plain", options.port);
    info.ssl_cert_filepath = options.cert.c_str();
    info.ssl_private_key_filepath = options.key.c_str();
    add_host(context, info, "secure", options.tls_port);

    while (lws_service(context, 0) >= 0) {
    }
    throw std::runtime_error("libwebsockets stopped its service");
}

void add_host(
    lws_context* context, lws_context_creation_info info, const char* name, std::uint16_t port) {
    info.vhost_name = name;
    info.port = port;
    if (!lws_create_vhost(context, &info)) {
        throw std::runtime_error("can't listen on port " + std::to_string(port));
    }
}

}  // namespace

int main(int argc, char** argv) {
    // The library's own text ends in a dash where it was built outside its repository.
    const std::string version = std::to_string(LWS_LIBRARY_VERSION_MAJOR) + "." +
                                std::to_string(LWS_LIBRARY_VERSION_MINOR) + "." +
                                std::to_string(LWS_LIBRARY_VERSION_PATCH);
    return wiretrial::run(argc, argv, version, serve);
}
