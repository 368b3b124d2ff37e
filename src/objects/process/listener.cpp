// SPDX-License-Identifier: Apache-2.0
#include "process/listener.hpp"

#include <runtime/shared/start_thread.hpp>
#include <sukima/detail/own_thread.hpp>

#include <pthread.h>

#include <utility>

#include "deadlock/watch.hpp"
#include "program/program_core.hpp"
#include "stream/remote.hpp"

namespace sukima::objects::detail {

listener::listener(program_core& of, const segment& memory, std::uint32_t process)
    : of_(of), memory_(memory), process_(process), bell_(memory.bell(process)) {
  const sukima::detail::signals_blocked here;
  thread_ = sukima::detail::start_thread("messages of other processes", [this] { run(); });
}

listener::~listener() {
  ends_.store(true, std::memory_order_seq_cst);  // before the ring, as the bell's word; pairs with: run
  bell_.ring(doorbell::no_bit);
  thread_.join();
}

void listener::run() {
  pthread_setname_np(pthread_self(), "sukima-bell");
  bool stopped = false;
  while (!ends_.load(std::memory_order_seq_cst)) {  // pairs with: ~listener
    bell_.listen([this](std::size_t bit) {
      if (bit / 2 < of_.streams.size())
        wake_here(*of_.streams[bit / 2],
                  bit % 2 == 0 ? stream_core::receivers_wait : stream_core::senders_wait);
    });
    answer_watch(of_, memory_, process_);
    // Read after the ring, which any process may have made. pairs with: stop, abort in process_roles.cpp
    if (memory_.header().stopping.load(std::memory_order_seq_cst) != 0 && !std::exchange(stopped, true)) {
      of_.stopping.store(true, std::memory_order_seq_cst);  // pairs with: wait_for_others in stream.cpp
      of_.wake_timers();
    }
    if (memory_.header().aborting.load(std::memory_order_seq_cst) != 0 &&
        !of_.aborting.load(std::memory_order_seq_cst))
      of_.abort_here();
  }
}

}  // namespace sukima::objects::detail
