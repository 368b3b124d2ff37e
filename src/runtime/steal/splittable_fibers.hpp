// SPDX-License-Identifier: Apache-2.0
// Suspended fibers with splittable work: a helper (a worker without work) splits off their pending work.
#pragma once

#include "fiber/fiber.hpp"
#include "linked_queue.hpp"
#include "park/wait_turn.hpp"

#include <sukima/detail/atomics.hpp>
#include <sukima/settings.hpp>

#include <cstddef>

namespace sukima::detail {

class rest_check;
struct task;
struct worker;

/// A list of such fibers. A fiber in the list may have been resumed since. So a helper that takes a fiber out
/// changes the fiber's suspension word by CAS before it touches the fiber (join/suspend.cpp).
class splittable_fibers {
 public:
  explicit splittable_fibers(const settings& chosen) : lock_(chosen.policy_at(wait_point::lock)) {}
  splittable_fibers(const splittable_fibers&) = delete;
  splittable_fibers& operator=(const splittable_fibers&) = delete;

  void add(fiber* suspended) noexcept;
  /// Splits the oldest work of a fiber off; null: there is none.
  task* split_one(worker& helper) noexcept;

 private:
  friend class rest_check;
  fiber* take() noexcept;

  policy_mutex lock_;
  linked_queue<fiber, &fiber::splittable_next> fibers_;
  /// Changed under the lock, read before it is taken. pairs with: add, take, split_one
  atomic<std::size_t> size_{0};
};

}  // namespace sukima::detail
