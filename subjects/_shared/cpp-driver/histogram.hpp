// The distribution of an iteration's times, in the form that a driver hands over.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

struct hdr_histogram;

namespace driver {

// An HdrHistogram of nanoseconds, 1 ns to 60 s, three significant digits.
class Histogram {
 public:
  Histogram();

  // Records a time; one above the range counts as the greatest of the range.
  void record(std::int64_t nanoseconds);
  // V2, compressed, base64.
  std::string encoded() const;

 private:
  struct Close {
    void operator()(hdr_histogram* histogram) const;
  };
  std::unique_ptr<hdr_histogram, Close> histogram_;
};

}  // namespace driver
