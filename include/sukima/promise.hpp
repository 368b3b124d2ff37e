// SPDX-License-Identifier: Apache-2.0
// promise: a future whose result the program gives by a call.
#pragma once

#include <sukima/shared_future.hpp>

#include <atomic>
#include <concepts>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace sukima {
/// \addtogroup futures
/// @{

/// The writing side of a shared_future that no expression computes: for the result of a callback, of another
/// library's thread, or of anything else that is not launched. One object gives one result.
///
/// Any thread may give the result. The call wakes all waiting fibers and threads, and returns without running
/// any of them. A promise that is destroyed without a result cancels its future: touches throw `cancelled`.
/// \tparam T the type of the result; void, or a reference, too
template <class T> class promise {
 public:
  /// \throws std::bad_alloc
  promise() : state_(new detail::promised<T>) {}
  /// Leaves `other` without a future: its functions throw usage_error.
  promise(promise&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  promise& operator=(promise other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~promise() {
    if (state_ == nullptr) return;
    if (!state_->is_set.load(std::memory_order_relaxed)) state_->result.end(detail::future_end::cancelled);
    detail::release_launched(state_);
  }

  /// Returns a handle of its future; may be called any number of times.
  /// \throws usage_error on a promise that was moved from
  [[nodiscard]] shared_future<T> get_future() const {
    detail::require_promise(state_);
    detail::hold_launched(*state_);
    return detail::handle_access::make<T>(state_);
  }
  /// Gives the result, made from these arguments (none if T is void). Does nothing if the future was
  /// cancelled.
  /// \throws usage_error for a second result, or on a promise that was moved from; what making the value
  ///         throws, and then no result is given
  /// \par Complexity linear in the number of waiting fibers and threads
  template <class... Arguments>
    requires(std::is_void_v<T> ? sizeof...(Arguments) == 0 : std::constructible_from<T, Arguments && ...>)
  void set_value(Arguments&&... arguments) {
    give(detail::future_end::value, [&] {
      state_->result.value.fill([&]() -> T {
        if constexpr (!std::is_void_v<T>) return T(std::forward<Arguments>(arguments)...);
      });
    });
  }
  /// Gives an exception, which each touch throws.
  /// \pre `error` is not null
  /// \throws usage_error for a second result, or on a promise that was moved from
  void set_exception(std::exception_ptr error) {
    give(detail::future_end::error, [&] { state_->result.error = std::move(error); });
  }

 private:
  template <class Write> void give(detail::future_end how, Write&& write) {
    detail::require_promise(state_);
    if (state_->is_set.exchange(true)) throw usage_error("sukima: a promise was given a second result");
    try {
      write();
    } catch (...) {
      state_->is_set.store(false);
      throw;
    }
    state_->result.end(how);
  }
  detail::promised<T>* state_;
};

/// @}
}  // namespace sukima
