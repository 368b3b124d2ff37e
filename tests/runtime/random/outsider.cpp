// SPDX-License-Identifier: Apache-2.0
// The thread outside the runtime to which random programs post actions.
#include "execute.hpp"

namespace random_programs {

outsider::outsider() : thread_([this] { main(); }) {}

outsider::~outsider() {
  {
    const std::lock_guard hold(lock_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void outsider::post(std::function<void()> action) {
  {
    const std::lock_guard hold(lock_);
    actions_.push_back(std::move(action));
  }
  changed_.notify_one();
}

void outsider::main() {
  std::unique_lock hold(lock_);
  for (;;) {
    changed_.wait(hold, [this] { return ends_ || !actions_.empty(); });
    if (actions_.empty()) return;
    const auto action = std::move(actions_.front());
    actions_.pop_front();
    hold.unlock();
    action();
    hold.lock();
  }
}

}  // namespace random_programs
