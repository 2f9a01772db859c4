// HTTP/1.1 by hand: one request made once, and a reader for its replies.
#pragma once

#include <string>
#include <string_view>

#include "job.hpp"
#include "stream.hpp"

class Http {
 public:
  explicit Http(const driver::Job& job);

  // Sends the request and returns the content of the reply. Throws where it is not a 200.
  std::string_view exchange(Stream& stream);
  // Whether the last reply said that the server closes the connection behind it.
  bool closing() const { return closing_; }

 private:
  // Reads the head of a reply; returns how many bytes it has.
  std::size_t read_head(Stream& stream);
  // Joins the chunks that start at `at`; returns where the reply ends.
  std::size_t read_chunks(Stream& stream, std::size_t at);
  // The line that starts at `at`, without its end; reads on until it is whole.
  std::string_view line(Stream& stream, std::size_t at);
  void read_until(Stream& stream, std::size_t size);
  void read_more(Stream& stream);

  const std::string request_;
  const std::size_t first_write_;  // how much of it the first write takes; the second has the rest
  std::string buffer_;      // room for received bytes, kept from one reply to the next
  std::size_t filled_ = 0;  // how much of it the current reply has filled
  std::string joined_;      // the content of a chunked reply
  std::size_t length_ = 0;
  bool chunked_ = false;
  bool closing_ = false;
};
