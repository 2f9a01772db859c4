// A bound on calls that take none: for clients whose own calls can't be told when to give up.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <type_traits>

namespace driver {

// One thread, made once per process, that sleeps and wakes about once per timeout. To watch a call
// costs two uncontended locks and no wake-up, so that it can stand inside a time of microseconds.
class Watchdog {
 public:
  explicit Watchdog(std::chrono::nanoseconds timeout);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Runs `call` and returns its result. When it takes longer than the timeout, `abort` runs in the
  // watchdog's thread, which must make the call return, and again until it has returned; then this
  // throws, whatever the result was.
  template <typename Call>
  auto watch(std::function<void()> abort, Call&& call) {
    const Watch watch(*this, std::move(abort));
    try {
      if constexpr (std::is_void_v<decltype(call())>) {
        call();
        throw_if_late();
      } else {
        auto result = call();
        throw_if_late();
        return result;
      }
    } catch (...) {
      throw_if_late();
      throw;
    }
  }

 private:
  struct Watch {
    Watch(Watchdog& watchdog, std::function<void()> abort) : watchdog(watchdog) {
      watchdog.arm(std::move(abort));
    }
    ~Watch() { watchdog.disarm(); }
    Watchdog& watchdog;
  };

  void arm(std::function<void()> abort);
  void disarm();
  void throw_if_late() const;
  void keep_watch();

  using Clock = std::chrono::steady_clock;

  const std::chrono::nanoseconds timeout_;
  std::mutex mutex_;
  std::condition_variable ending_;
  std::function<void()> abort_;  // set while a call is watched
  Clock::time_point deadline_;
  std::atomic<bool> late_ = false;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace driver
