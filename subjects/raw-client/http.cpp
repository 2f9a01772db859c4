#include "http.hpp"

#include <strings.h>

#include <charconv>
#include <cstdlib>
#include <stdexcept>

#include "failure.hpp"

namespace {

constexpr std::size_t kLargestHead = 64 * 1024;
constexpr std::size_t kLargestContent = std::size_t{1} << 31;

// Whether head and body go in a write each, which shows what Nagle's algorithm makes of that.
bool wants_two_writes() { return std::getenv("RAW_CLIENT_TWO_WRITES") != nullptr; }

std::string request_of(const driver::Job& job) {
  const bool is_get = job.message.empty();
  std::string head = (is_get ? "GET " : "POST ") + job.url.target + " HTTP/1.1\r\n";
  head += "Host: " + job.url.authority() + "\r\n";
  if (!is_get) {
    head += "Content-Type: application/octet-stream\r\n";
    head += "Content-Length: " + std::to_string(job.message.size()) + "\r\n";
  }
  return head + "\r\n" + job.message;
}

// The value of the header line if its name is `name`; names have no case.
const char* value_of(std::string_view line, std::string_view name) {
  if (line.size() <= name.size() || line[name.size()] != ':') return nullptr;
  if (strncasecmp(line.data(), name.data(), name.size()) != 0) return nullptr;
  const auto start = line.find_first_not_of(" \t", name.size() + 1);
  return line.data() + (start == std::string_view::npos ? line.size() : start);
}

std::size_t number(const char* start, const char* end, int base) {
  std::size_t value = 0;
  const auto read = std::from_chars(start, end, value, base);
  if (read.ec != std::errc() || value > kLargestContent) {
    throw std::runtime_error("wrong reply: its length can't be read");
  }
  return value;
}

}  // namespace

Http::Http(const driver::Job& job)
    : request_(request_of(job)),
      first_write_(wants_two_writes() ? request_.size() - job.message.size() : request_.size()) {
  buffer_.resize(job.expected.size() + 4096);
}

std::string_view Http::exchange(Stream& stream) {
  filled_ = 0;
  stream.send(std::string_view(request_).substr(0, first_write_));
  stream.send(std::string_view(request_).substr(first_write_));
  const std::size_t head = read_head(stream);
  if (!chunked_) read_until(stream, head + length_);
  const std::size_t end = chunked_ ? read_chunks(stream, head) : head + length_;
  if (filled_ != end) throw std::runtime_error("wrong reply: more than its length");
  return chunked_ ? joined_ : std::string_view(buffer_.data() + head, length_);
}

std::size_t Http::read_head(Stream& stream) {
  const std::string_view first = line(stream, 0);
  const bool is_http = first.substr(0, 7) == "HTTP/1." && first.size() >= 12;
  if (!is_http) throw std::runtime_error("wrong reply: not HTTP/1.1");
  driver::check_status(static_cast<long>(number(first.data() + 9, first.data() + 12, 10)));

  chunked_ = closing_ = false;
  bool has_length = false;
  std::size_t at = first.size() + 2;
  while (true) {
    const std::string_view header = line(stream, at);
    at += header.size() + 2;
    if (header.empty()) break;
    const char* end = header.data() + header.size();
    if (const char* length = value_of(header, "content-length")) {
      length_ = number(length, end, 10);
      has_length = true;
    } else if (const char* coding = value_of(header, "transfer-encoding")) {
      chunked_ = strncasecmp(coding, "chunked", 7) == 0;
    } else if (const char* connection = value_of(header, "connection")) {
      closing_ = strncasecmp(connection, "close", 5) == 0;
    }
    if (at > kLargestHead) throw std::runtime_error("wrong reply: its head has no end");
  }
  if (!has_length && !chunked_) throw std::runtime_error("wrong reply: it tells no length");
  return at;
}

std::size_t Http::read_chunks(Stream& stream, std::size_t at) {
  joined_.clear();
  while (true) {
    const std::string_view size_line = line(stream, at);
    const std::size_t size = number(size_line.data(), size_line.data() + size_line.size(), 16);
    at += size_line.size() + 2;
    if (size == 0) break;
    read_until(stream, at + size + 2);
    joined_.append(buffer_, at, size);
    at += size + 2;
  }
  while (true) {  // trailer fields, and the empty line behind them
    const std::size_t length = line(stream, at).size();
    at += length + 2;
    if (length == 0) return at;
  }
}

std::string_view Http::line(Stream& stream, std::size_t at) {
  std::size_t searched = at;
  while (true) {
    const auto end = std::string_view(buffer_.data(), filled_).find("\r\n", searched);
    if (end != std::string_view::npos) return {buffer_.data() + at, end - at};
    if (filled_ > at + kLargestHead) throw std::runtime_error("wrong reply: a line has no end");
    searched = filled_ > at ? filled_ - 1 : at;
    read_more(stream);
  }
}

void Http::read_until(Stream& stream, std::size_t size) {
  while (filled_ < size) read_more(stream);
}

void Http::read_more(Stream& stream) {
  if (filled_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  filled_ += stream.receive(buffer_.data() + filled_, buffer_.size() - filled_);
}
