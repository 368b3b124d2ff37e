// SPDX-License-Identifier: Apache-2.0
// Makes calls in a thread of their own; see calls.hpp.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "shared/calls.hpp"

namespace sukima::host {
namespace {

class calling_thread final : public caller {
 public:
  calling_thread() : state_(std::make_shared<state>()) {
    thread_ = std::thread([shared = state_] { serve(*shared); });
  }
  ~calling_thread() override {
    bool busy = false;
    {
      const std::lock_guard lock(state_->mutex);
      state_->stop = true;
      busy = state_->call != nullptr;
    }
    state_->changed.notify_all();
    if (busy)
      thread_.detach();
    else
      thread_.join();
  }

  void begin(std::function<void()> call) override {
    {
      const std::lock_guard lock(state_->mutex);
      state_->call = std::move(call);
    }
    state_->changed.notify_all();
  }

  bool busy() const override {
    const std::lock_guard lock(state_->mutex);
    return state_->call != nullptr;
  }

  bool wait(std::chrono::steady_clock::time_point end) override {
    std::unique_lock lock(state_->mutex);
    return state_->changed.wait_until(lock, end, [&] { return state_->call == nullptr; });
  }

 private:
  struct state {
    std::mutex mutex;
    std::condition_variable changed;
    std::function<void()> call;  // empty: no call is running
    bool stop = false;
  };

  static void serve(state& shared) {
    std::unique_lock lock(shared.mutex);
    for (;;) {
      shared.changed.wait(lock, [&] { return shared.call != nullptr || shared.stop; });
      if (shared.call == nullptr) return;
      const std::function<void()> call = shared.call;
      lock.unlock();
      call();
      lock.lock();
      shared.call = nullptr;
      shared.changed.notify_all();
      if (shared.stop) return;
    }
  }

  std::shared_ptr<state> state_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<caller> make_calling_thread() { return std::make_unique<calling_thread>(); }

}  // namespace sukima::host
