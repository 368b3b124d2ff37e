// SPDX-License-Identifier: Apache-2.0
#include "schedule/timer.hpp"

#include <runtime/shared/start_thread.hpp>
#include <sukima/detail/own_thread.hpp>

#include <pthread.h>

#include <algorithm>

namespace sukima::objects::detail {

timer::~timer() {
  {
    const std::lock_guard hold(lock_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void timer::add(clock::time_point at, sukima::detail::fiber& s, std::uint64_t number) {
  const std::lock_guard hold(lock_);
  if (!thread_.joinable()) {  // before the entry is made: without a thread nothing may wait
    const sukima::detail::signals_blocked here;
    thread_ = sukima::detail::start_thread("the times of objects", [this] { run(); });
  }
  const due::iterator entry = waits_.emplace(at, std::pair(&s, number));
  if (entry == waits_.begin()) changed_.notify_all();
}

void timer::remove(clock::time_point at, const sukima::detail::fiber& s) noexcept {
  const std::lock_guard hold(lock_);
  const auto [first, last] = waits_.equal_range(at);
  const auto found = std::find_if(first, last, [&](const auto& entry) { return entry.second.first == &s; });
  if (found != last) waits_.erase(found);
}

void timer::run() {
  const sukima::detail::own_thread here;
  pthread_setname_np(pthread_self(), "sukima-objects");
  std::unique_lock hold(lock_);
  while (!ends_) {
    if (waits_.empty()) {
      changed_.wait(hold);
    } else if (const clock::time_point at = waits_.begin()->first; clock::now() < at) {
      changed_.wait_until(hold, at);
    } else {
      const auto [self, number] = waits_.begin()->second;
      waits_.erase(waits_.begin());
      sukima::detail::try_resume(*self, number);
    }
  }
}

}  // namespace sukima::objects::detail
