// SPDX-License-Identifier: Apache-2.0
// Events that workers post to a node's cluster thread.
#pragma once

#include "transport/transport.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace sukima::cluster {

template <class Event> class event_queue {
 public:
  /// \param by  the transport in whose wait() the cluster thread sleeps
  explicit event_queue(transport& by) noexcept : by_(by) {}
  /// Adds an event and wakes the cluster thread. Any thread may call this.
  void post(Event e) {
    {
      const std::lock_guard hold(lock_);
      events_.push_back(std::move(e));
    }
    by_.ring();
  }
  /// Removes and returns all events, in the order in which they were posted.
  std::vector<Event> take() {
    const std::lock_guard hold(lock_);
    return std::exchange(events_, {});
  }

 private:
  transport& by_;
  std::mutex lock_;
  std::vector<Event> events_;
};

}  // namespace sukima::cluster
