// The body of a Restbed request, by its length or in chunks.
//
// Knows how a body is framed; must not know what it is for.

#pragma once

#include <functional>
#include <memory>
#include <restbed>
#include <string>
#include <utility>

using WithBody =
    std::function<void(const std::shared_ptr<restbed::Session>&, const std::string& body)>;

/// Calls `then` with the whole body, once it is there.
void with_body(const std::shared_ptr<restbed::Session>& session, WithBody then);

/// A body that comes in chunks, each after its length on a line of its own; one of length zero is
/// the last.
class Chunks : public std::enable_shared_from_this<Chunks> {
public:
    explicit Chunks(WithBody then) : then_(std::move(then)) {}

    void read(const std::shared_ptr<restbed::Session>& session) {
        const auto self = shared_from_this();
        session->fetch("\r\n", [self](const std::shared_ptr<restbed::Session> from,
                                      const restbed::Bytes& line) {
            self->read_chunk(from, std::stoul(restbed::String::to_string(line), nullptr, 16));
        });
    }

private:
    void read_chunk(const std::shared_ptr<restbed::Session>& session, std::size_t size) {
        const auto self = shared_from_this();
        const std::size_t line_end = 2;
        session->fetch(size + line_end, [self, size](const std::shared_ptr<restbed::Session> from,
                                                     const restbed::Bytes& chunk) {
            if (size == 0) {
                self->then_(from, self->body_);
                return;
            }
            self->body_.append(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(size));
            self->read(from);
        });
    }

    WithBody then_;
    std::string body_;
};

inline void with_body(const std::shared_ptr<restbed::Session>& session, WithBody then) {
    const auto request = session->get_request();
    if (request->get_header("Transfer-Encoding", restbed::String::lowercase) == "chunked") {
        std::make_shared<Chunks>(std::move(then))->read(session);
        return;
    }
    const std::size_t length = request->get_header("Content-Length", 0);
    session->fetch(length, [then](const std::shared_ptr<restbed::Session> from,
                                  const restbed::Bytes& body) {
        then(from, restbed::String::to_string(body));
    });
}
