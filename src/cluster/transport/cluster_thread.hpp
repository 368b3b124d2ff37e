// SPDX-License-Identifier: Apache-2.0
// The single thread of a node that exchanges messages with other nodes.
#pragma once

#include "transport/transport.hpp"

#include <runtime/shared/start_thread.hpp>
#include <sukima/detail/own_thread.hpp>

#include <pthread.h>

#include <atomic>
#include <exception>
#include <future>
#include <thread>
#include <utility>

namespace sukima::cluster {

class cluster_thread {
 public:
  cluster_thread() = default;
  cluster_thread(const cluster_thread&) = delete;
  cluster_thread& operator=(const cluster_thread&) = delete;

  /// Runs `meet` in a new thread, and then `serve`, which must return soon after is_stopping() becomes true.
  /// Returns when `meet` has returned. \throws what `meet` throws, or shortage; then there is no thread
  template <class Meet, class Serve> void start(Meet meet, Serve serve) {
    std::promise<void> met;
    std::future<void> meeting = met.get_future();
    {
      const sukima::detail::signals_blocked here;  // signals are handled by the program's own threads
      auto run = [&met, meet = std::move(meet), serve = std::move(serve)]() mutable {
        const sukima::detail::own_thread own;
        pthread_setname_np(pthread_self(), "sukima-cluster");
        try {
          meet();
        } catch (...) {
          met.set_exception(std::current_exception());
          return;
        }
        met.set_value();
        serve();
      };
      thread_ = sukima::detail::start_thread("the messages of other nodes", std::move(run));
    }
    try {
      meeting.get();
    } catch (...) {
      thread_.join();
      throw;
    }
  }

  /// Whether stop() was called. pairs with: stop
  bool is_stopping() const noexcept { return stopping_.load(std::memory_order_seq_cst); }
  /// Ends the thread, and waits until it has ended. A second call does nothing.
  /// \param by the transport in whose wait() the thread sleeps
  void stop(transport& by) {
    if (!thread_.joinable()) return;
    stopping_.store(true, std::memory_order_seq_cst);  // before the ring; pairs with: is_stopping
    by.ring();
    thread_.join();
  }

 private:
  /// Sequentially consistent, as rings require it (tcp_transport.hpp). pairs with: stop, is_stopping
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace sukima::cluster
