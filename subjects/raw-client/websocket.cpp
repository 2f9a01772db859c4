#include "websocket.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace {

constexpr std::uint8_t kContinuation = 0x0, kText = 0x1, kBinary = 0x2;
constexpr std::uint8_t kClose = 0x8, kPing = 0x9, kPong = 0xA;
constexpr std::uint8_t kLast = 0x80, kMasked = 0x80;
constexpr std::size_t kLargestHead = 64 * 1024;
constexpr std::uint64_t kLargestFrame = std::uint64_t{1} << 31;

// The nonce of RFC 6455's own example, and the answer that it must get.
constexpr char kNonce[] = "dGhlIHNhbXBsZSBub25jZQ==";
constexpr char kAnswer[] = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

// A frame that is made once is masked once, so its key is a constant.
constexpr std::array<std::uint8_t, 4> kMask = {0x5A, 0xC3, 0x96, 0x3C};

std::string upgrade_of(const driver::Job& job) {
  return "GET " + job.url.target + " HTTP/1.1\r\nHost: " + job.url.authority() +
         "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
         "Sec-WebSocket-Key: " +
         kNonce + "\r\n\r\n";
}

std::string frame_of(std::uint8_t opcode, std::string_view content) {
  std::string frame;
  frame += static_cast<char>(kLast | opcode);
  const auto big_endian = [&frame](std::uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) frame += static_cast<char>(value >> (8 * i));
  };
  if (content.size() < 126) {
    big_endian(kMasked | content.size(), 1);
  } else if (content.size() < 65536) {
    big_endian(kMasked | 126, 1);
    big_endian(content.size(), 2);
  } else {
    big_endian(kMasked | 127, 1);
    big_endian(content.size(), 8);
  }
  frame.append(kMask.begin(), kMask.end());
  for (std::size_t i = 0; i < content.size(); ++i) {
    frame += static_cast<char>(content[i] ^ kMask[i % kMask.size()]);
  }
  return frame;
}

}  // namespace

WebSocket::WebSocket(const driver::Job& job)
    : upgrade_(upgrade_of(job)), frame_(frame_of(kBinary, job.message)) {
  buffer_.resize(job.expected.size() + 4096);
}

void WebSocket::open(Stream& stream) {
  stream.send(upgrade_);
  const auto end_of_head = [this] {
    return std::string_view(buffer_.data(), filled_).find("\r\n\r\n");
  };
  while (end_of_head() == std::string_view::npos) {
    if (filled_ > kLargestHead) throw std::runtime_error("the upgrade's answer has no end");
    read_until(stream, filled_ + 1);
  }
  const std::size_t end = end_of_head();
  const std::string_view answer(buffer_.data(), end);
  if (answer.substr(0, 12) != "HTTP/1.1 101" || answer.find(kAnswer) == std::string::npos) {
    const auto first = answer.substr(0, answer.find("\r\n"));
    throw std::runtime_error("the upgrade was refused: " + std::string(first));
  }
  at_ = end + 4;
}

std::string_view WebSocket::exchange(Stream& stream) {
  stream.send(frame_);
  bool is_first = true;
  while (true) {
    const Frame frame = next_frame(stream);
    if (frame.opcode == kPing) {
      stream.send(frame_of(kPong, frame.content));
    } else if (frame.opcode == kClose) {
      throw std::runtime_error("the server closed the WebSocket");
    } else if (frame.opcode == kText) {
      throw std::runtime_error("wrong reply: a text message");
    } else if (frame.opcode == (is_first ? kBinary : kContinuation)) {
      if (is_first && frame.last) return frame.content;
      if (is_first) joined_.clear();
      joined_ += frame.content;
      if (frame.last) return joined_;
      is_first = false;
    } else if (frame.opcode != kPong) {
      throw std::runtime_error("wrong reply: a frame out of its order");
    }
  }
}

void WebSocket::close(Stream& stream) { stream.send(frame_of(kClose, "\x03\xE8")); }

WebSocket::Frame WebSocket::next_frame(Stream& stream) {
  if (at_ == filled_) at_ = filled_ = 0;
  read_until(stream, at_ + 2);
  const auto byte = [this](std::size_t i) { return static_cast<std::uint8_t>(buffer_[at_ + i]); };
  const std::uint8_t first = byte(0);
  std::uint64_t size = byte(1);
  if ((first & 0x70) != 0 || size >= kMasked) {
    throw std::runtime_error("wrong reply: a frame that a server must not send");
  }
  std::size_t head = 2;
  if (size >= 126) {
    head = size == 126 ? 4 : 10;
    read_until(stream, at_ + head);
    size = 0;
    for (std::size_t i = 2; i < head; ++i) size = size << 8 | byte(i);
    if (size > kLargestFrame) throw std::runtime_error("wrong reply: a frame of over 2 GiB");
  }
  read_until(stream, at_ + head + size);
  const std::string_view content(buffer_.data() + at_ + head, size);
  at_ += head + size;
  return {static_cast<std::uint8_t>(first & 0x0F), (first & kLast) != 0, content};
}

void WebSocket::read_until(Stream& stream, std::size_t size) {
  if (size > buffer_.size()) buffer_.resize(std::max(size, buffer_.size() * 2));
  while (filled_ < size) {
    filled_ += stream.receive(buffer_.data() + filled_, buffer_.size() - filled_);
  }
}
