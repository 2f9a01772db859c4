// A WebSocket by hand: a handshake, one binary frame made once, and a reader for its echoes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "job.hpp"
#include "stream.hpp"

class WebSocket {
 public:
  explicit WebSocket(const driver::Job& job);

  // Upgrades the connection; throws where the server refuses.
  void open(Stream& stream);
  // Sends the message and returns the next one; pings in between are answered.
  std::string_view exchange(Stream& stream);
  // Says that no more messages follow.
  void close(Stream& stream);

 private:
  struct Frame {
    std::uint8_t opcode;
    bool last;
    std::string_view content;
  };
  Frame next_frame(Stream& stream);
  void read_until(Stream& stream, std::size_t size);

  const std::string upgrade_;
  const std::string frame_;
  std::string buffer_;      // received bytes: frames behind each other
  std::size_t at_ = 0;      // where the next frame starts
  std::size_t filled_ = 0;  // where the received bytes end
  std::string joined_;      // a message of more than one frame
};
