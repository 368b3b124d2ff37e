// SPDX-License-Identifier: Apache-2.0
#include "lifecycle.hpp"

#include "choice/keep_registers.hpp"
#include "fiber/fault.hpp"
#include "whole_runtime.hpp"

#include <pthread.h>

#include <string>
#include <system_error>
#include <utility>

namespace sukima::detail {

namespace {

std::uint64_t next_serial() noexcept {
  static std::atomic<std::uint64_t> serial{0};  // no partner: only the numbers must differ
  return serial.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// Smallest stack with which the threads of a runtime work. Their fibers have stacks of their own.
constexpr std::size_t least_thread_stack = std::size_t{64} << 10;

/// \throws shortage  threads get a smaller stack by default: they would overflow it without a message
void check_stack_of_threads() {
  pthread_attr_t usual;
  std::size_t size = least_thread_stack;
  if (pthread_getattr_default_np(&usual) != 0) return;
  pthread_attr_getstacksize(&usual, &size);
  pthread_attr_destroy(&usual);
  if (size < least_thread_stack)
    throw shortage(std::errc::not_enough_memory,
                   "sukima: the stacks of threads have " + std::to_string(size >> 10) +
                       " KiB, and the runtime needs 64; raise the limit (ulimit -s)");
}

}  // namespace

runtime_core::runtime_core(const settings& s, unsigned most_workers, worker_table& workers_of_it)
    : chosen(s),
      tuned(ticks_per_nanosecond()),
      workers_are_asked(s.published_tasks == 0),
      request_interval(static_cast<std::uint64_t>(1e3 * ticks_per_nanosecond() * s.request_interval_us)),
      worker_limit(most_workers),
      serial(next_serial()),
      workers(workers_of_it) {}

whole_runtime::whole_runtime(const settings& s, unsigned most_workers, capacity_handle capacity)
    : runtime_parts(threads_, entries_, cycle_, controller_, monitor_thread_,
                    decisions_,  // the parts of each layer
                    launched_, suspensions_, parked_,  // join
                    injector_, splittable_,  // steal
                    park_, launched_, shortage_, placement_, blocking_,  // park
                    fibers_, bound_fibers_, hints_, remote_,  // fiber
                    s, most_workers, workers_) {
  check_stack_of_threads();
  find_vector_registers();
  watch_for_overflow();
  cycle_.start(std::move(capacity));
}

whole_runtime::~whole_runtime() { cycle_.stop(); }

void lifecycle::start(capacity_handle capacity) {
  worker& first = workers_.add(0);  // for the first thread that enters
  // The fiber is made before the background workers take the available address space.
  if (!first.has_spare_fiber()) throw no_fiber();
  first.taken.store(false, std::memory_order_relaxed);
  try {
    controller_.start(std::move(capacity));
    monitor_thread_.listen_to_others();
    if (controller_.follows_capacity() || tracing()) monitor_thread_.start();
  } catch (...) {
    stop();
    throw;
  }
}

/// Waits for launched futures. Noexcept: without a fiber for this the program ends, because no thread could
/// wait for the futures that still run.
void lifecycle::close_launched() noexcept {
  const auto close = [this](context c) { launched_.close(c.top); };
  root_of<decltype(close)> root(close);
  entries_.enter_last(root);
}

void lifecycle::stop() {
  if (life_.is_orphaned()) {
    threads_.forget();
    monitor_thread_.forget_thread();
    return;
  }
  const std::lock_guard hold(stopping_);
  entries_.close();
  if (!launched_.is_empty()) close_launched();
  life_.close();
  controller_.close();
  monitor_thread_.stop();  // from here on no thread is started
  for (worker& w : workers_.all()) unpark(w);
  threads_.join();
  life_.wait_for_resuming();
  write_trace();
}

bool lifecycle::stop_if_empty() {
  if (!entries_.close_if([this] { return launched_.is_empty() && !remote_.has_node(); })) return false;
  stop();
  return true;
}

}  // namespace sukima::detail
