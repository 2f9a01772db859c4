#include "histogram.hpp"

#include <hdr_histogram.h>
#include <hdr_histogram_log.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace driver {
namespace {

constexpr std::int64_t kLowest = 1;
constexpr std::int64_t kHighest = 60'000'000'000;
constexpr int kSignificantDigits = 3;

}  // namespace

Histogram::Histogram() {
  hdr_histogram* made = nullptr;
  if (hdr_init(kLowest, kHighest, kSignificantDigits, &made) != 0) throw std::bad_alloc();
  histogram_.reset(made);
}

void Histogram::record(std::int64_t nanoseconds) {
  hdr_record_value(histogram_.get(), std::clamp(nanoseconds, kLowest, kHighest));
}

std::string Histogram::encoded() const {
  char* text = nullptr;
  if (hdr_log_encode(histogram_.get(), &text) != 0) {
    throw std::runtime_error("the histogram can't be encoded");
  }
  const std::unique_ptr<char, decltype(&std::free)> owned(text, &std::free);
  return text;
}

void Histogram::Close::operator()(hdr_histogram* histogram) const { hdr_close(histogram); }

}  // namespace driver
