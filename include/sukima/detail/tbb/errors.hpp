// SPDX-License-Identifier: Apache-2.0
// Throws the TBB headers' own exceptions.
#pragma once

#include <atomic>
#include <exception>
#include <utility>

namespace sukima::detail::tbb {

/// Whether exceptions end the program instead of leaving an algorithm
/// (global_control::terminate_on_exception).
/// no partner: only the number itself counts
inline std::atomic<bool> ends_at_exceptions{false};

/// \throws error, unless exceptions end the program
template <class E> [[noreturn]] void throw_error(E error) {
  if (ends_at_exceptions.load(std::memory_order_relaxed)) std::terminate();
  throw E(std::move(error));
}

}  // namespace sukima::detail::tbb
