// SPDX-License-Identifier: Apache-2.0
// The parallel scheduler of std::execution (P2079), in the form of stdexec, on Sukima's workers.
#pragma once

/// \file
/// Include this header in one source file of a program that uses stdexec. `stdexec::get_parallel_scheduler()`
/// then runs work on the workers of Sukima's default runtime, whose number follows the CPU that the program
/// gets. Do not link stdexec's own library for that scheduler.

#if !__has_include(<stdexec/execution.hpp>)
#error "sukima/parallel_scheduler.hpp needs stdexec: https://github.com/NVIDIA/stdexec"
#endif

#include <sukima/execution.hpp>
#include <sukima/loop.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <stdexec/execution.hpp>
#include <type_traits>
#include <utility>

namespace sukima::execution::detail {

namespace replaced = stdexec::parallel_scheduler_replacement;

/// The backend behind stdexec's scheduler. Its operations live in the memory that stdexec passes.
class parallel_backend : public replaced::parallel_scheduler_backend {
 public:
  void schedule(replaced::receiver_proxy& receiver, std::span<std::byte> memory) noexcept override {
    push(memory, receiver, [](replaced::receiver_proxy&) {});
  }

  void schedule_bulk_chunked(std::size_t count, replaced::bulk_item_receiver_proxy& receiver,
                             std::span<std::byte> memory) noexcept override {
    push(memory, receiver, [count](replaced::bulk_item_receiver_proxy& each) {
      // A loop gives work away in units of iterations: here one for each part that a worker may get.
      const std::size_t parts = std::min(count, most_parts);
      sukima::parallel_for(std::size_t{0}, parts, [&, count, parts](std::size_t k) {
        each.execute(first_of(k, count, parts), first_of(k + 1, count, parts));
      });
    });
  }

  void schedule_bulk_unchunked(std::size_t count, replaced::bulk_item_receiver_proxy& receiver,
                               std::span<std::byte> memory) noexcept override {
    push(memory, receiver, [count](replaced::bulk_item_receiver_proxy& each) {
      sukima::parallel_for(std::size_t{0}, count, [&](std::size_t k) { each.execute(k, k + 1); });
    });
  }

 private:
  static constexpr std::size_t most_parts = 1024;

  /// Returns the first iteration of the part with this number. Parts differ by one iteration at most.
  static std::size_t first_of(std::size_t part, std::size_t count, std::size_t parts) noexcept {
    return count / parts * part + std::min(part, count % parts);
  }

  template <class Receiver, class Work> struct operation : work_item {
    Receiver& receiver;
    Work work;
    operation(Receiver& to, Work w)
        : work_item{[](work_item* self) noexcept { static_cast<operation*>(self)->complete(); }},
          receiver(to),
          work(std::move(w)) {}
    void complete() noexcept {
      Receiver& to = receiver;
      const auto stop = to.template try_query<stdexec::inplace_stop_token>(stdexec::get_stop_token);
      if (stop && stop->stop_requested()) {
        to.set_stopped();
        return;
      }
      try {
        work(to);
      } catch (...) {
        to.set_error(std::current_exception());
        return;
      }
      to.set_value();  // this operation may be gone now
    }
  };

  template <class Receiver, class Work>
  void push(std::span<std::byte> memory, Receiver& receiver, Work work) noexcept {
    using made = operation<Receiver, Work>;
    void* place = memory.data();
    std::size_t space = memory.size();
    if (std::align(alignof(made), sizeof(made), place, space) == nullptr) {
      receiver.set_error(std::make_exception_ptr(std::bad_alloc()));
      return;
    }
    // The operation is never destroyed; its memory belongs to stdexec.
    static_assert(std::is_trivially_destructible_v<made>);
    pool_.push(*::new (place) made(receiver, std::move(work)));
  }

  pool_core pool_{default_runtime()};
};

}  // namespace sukima::execution::detail

namespace stdexec::parallel_scheduler_replacement {

/// Replaces the function of this name in stdexec's library.
/// \returns the backend, which all schedulers share
std::shared_ptr<parallel_scheduler_backend> query_parallel_scheduler_backend() {
  static const auto backend = std::make_shared<sukima::execution::detail::parallel_backend>();
  return backend;
}

}  // namespace stdexec::parallel_scheduler_replacement
