// SPDX-License-Identifier: Apache-2.0
// Alarms and deadlines: one thread, the *clock*, sleeps until the next alarm and calls its function.
//
// An alarm is stored in the frame of the call that has it, so none is allocated. It is in the clock's list
// from `start_alarm` until it rings or `stop_alarm` removes it. The clock calls the function under its lock,
// and the function waits for nothing. So stopping an alarm takes a few microseconds at most, and the clock
// never touches an alarm that was stopped.
#include "shared/start_thread.hpp"
#include "shared/stay_loaded.hpp"

#include <sukima/cancel.hpp>
#include <sukima/detail/own_thread.hpp>

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <utility>

namespace sukima::detail {

namespace {

using std::chrono::steady_clock;

class clock_thread {
 public:
  void begin() {
    const std::lock_guard hold(lock_);
    if (!running_) start();
  }

  void add(alarm& d) noexcept {
    const std::lock_guard hold(lock_);
    // Sorted by time. Alarms are few, and mostly the new one is the first (nested ones end earlier).
    alarm** place = &first_;
    while (*place != nullptr && (*place)->at <= d.at) place = &(*place)->next;
    d.next = *place;
    *place = &d;
    if (first_ == &d) changed_.notify_one();
  }

  void remove(alarm& d) noexcept {
    const std::lock_guard hold(lock_);
    for (alarm** place = &first_; *place != nullptr; place = &(*place)->next)
      if (*place == &d) {
        *place = d.next;
        return;
      }
  }

 private:
  void start() {
    stay_loaded();  // the thread never ends
    const signals_blocked here;
    start_thread("deadlines", [this] { run(); }).detach();
    running_ = true;
  }

  [[noreturn]] void run() {
    const own_thread here;
    pthread_setname_np(pthread_self(), "sukima-clock");
    std::unique_lock hold(lock_);
    for (;;) {
      if (first_ == nullptr) {
        changed_.wait(hold);
      } else if (const auto at = first_->at; steady_clock::now() < at) {
        changed_.wait_until(hold, at);
      } else {
        alarm* const due = std::exchange(first_, first_->next);
        due->ring(*due);
      }
    }
  }

  std::mutex lock_;
  std::condition_variable changed_;
  alarm* first_ = nullptr;
  bool running_ = false;
};

/// Never destroyed: the thread lives as long as the process. A child process of fork() does not have the
/// thread, so it gets a clock of its own.
clock_thread* the_clock() {
  alignas(clock_thread) static std::byte room[sizeof(clock_thread)];
  static clock_thread* const made = [] {
    auto* c = ::new (static_cast<void*>(room)) clock_thread;
    pthread_atfork(nullptr, nullptr, [] { ::new (static_cast<void*>(room)) clock_thread; });
    return c;
  }();
  return made;
}

}  // namespace

void start_clock() { the_clock()->begin(); }
void start_alarm(alarm& a) noexcept { the_clock()->add(a); }
void stop_alarm(alarm& a) noexcept { the_clock()->remove(a); }

void start_deadline(deadline& d) {
  d.ring = [](alarm& a) noexcept { cancel_scope(*static_cast<deadline&>(a).scope); };
  start_clock();
  start_alarm(d);
}
void end_deadline(deadline& d) noexcept {
  the_clock()->remove(d);
  if (steady_clock::now() >= d.at) cancel_scope(*d.scope);
}

}  // namespace sukima::detail
