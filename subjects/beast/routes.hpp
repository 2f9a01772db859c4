// What each route answers.
//
// Knows requests and answers; must not know how they travel.

#pragma once

#include <boost/beast/http.hpp>

#include <string>
#include <utility>

#include "shared/cpp-server/content.hpp"
#include "shared/cpp-server/options.hpp"
#include "shared/cpp-server/percent.hpp"

namespace beast = boost::beast;
namespace http = beast::http;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;
using wiretrial::Options;

inline Response reply(
    const Request& request, http::status status, const char* type, std::string body);

inline Response answer(Request request, const Options& options) {
    constexpr char LABELS[] = "/test/labels/";
    const beast::string_view path = request.target();
    switch (request.method()) {
    case http::verb::get:
        if (path == "/message") {
            return reply(request, http::status::ok, wiretrial::JSON, wiretrial::MESSAGE);
        }
        if (path == "/test/status") {
            return reply(request, http::status::ok, wiretrial::TEXT, wiretrial::STATUS);
        }
        if (path.starts_with(LABELS)) {
            const std::string label(path.substr(sizeof LABELS - 1));
            return reply(
                request, http::status::ok, wiretrial::TEXT, wiretrial::percent_decoded(label));
        }
        break;
    case http::verb::head:
        if (path == "/message") {
            Response head = reply(request, http::status::ok, wiretrial::JSON, "");
            head.content_length(sizeof wiretrial::MESSAGE - 1);
            return head;
        }
        break;
    case http::verb::post:
        if (path == "/echo") {
            return reply(
                request, http::status::ok, wiretrial::BYTES, std::move(request.body()));
        }
        if (path == "/test") {
            return reply(
                request, http::status::ok, wiretrial::TEXT,
                wiretrial::received(request.body(), options.delay));
        }
        break;
    default:
        break;
    }
    return reply(request, http::status::not_found, wiretrial::TEXT, "not found\n");
}

inline Response reply(
    const Request& request, http::status status, const char* type, std::string body) {
    Response response(status, request.version());
    response.set(http::field::content_type, type);
    response.keep_alive(request.keep_alive());
    response.body() = std::move(body);
    response.prepare_payload();
    return response;
}
