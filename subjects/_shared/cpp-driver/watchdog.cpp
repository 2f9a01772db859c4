#include "watchdog.hpp"

#include "failure.hpp"

namespace driver {

Watchdog::Watchdog(std::chrono::nanoseconds timeout)
    : timeout_(timeout), thread_([this] { keep_watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_one();
  thread_.join();
}

void Watchdog::arm(std::function<void()> abort) {
  const std::lock_guard lock(mutex_);
  abort_ = std::move(abort);
  deadline_ = Clock::now() + timeout_;
  late_ = false;
}

void Watchdog::disarm() {
  const std::lock_guard lock(mutex_);
  abort_ = nullptr;
}

void Watchdog::throw_if_late() const {
  if (late_) throw Timeout(timeout_);
}

// Nobody wakes this thread for a new call: whatever starts while it sleeps ends later than it
// wakes. A late call is aborted again and again, for its socket may come only after the first time.
void Watchdog::keep_watch() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    const auto now = Clock::now();
    if (abort_ && now >= deadline_) {
      late_ = true;
      abort_();
      deadline_ = now + timeout_;
    }
    ending_.wait_until(lock, abort_ ? deadline_ : now + timeout_);
  }
}

}  // namespace driver
