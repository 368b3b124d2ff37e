// SPDX-License-Identifier: Apache-2.0
// The caller's callables in a loop's frame.
#pragma once

#include <functional>
#include <type_traits>

namespace sukima::detail {

/// A callable that a frame refers to. A callable without state takes no space, which saves a store at each
/// loop.
template <class F> struct shared_callable {
  F* address;
  explicit shared_callable(F& f) noexcept : address(&f) {}
  F& get() const noexcept { return *address; }
};
template <class F>
  requires(std::is_empty_v<F> && std::is_trivially_copyable_v<F> && std::is_copy_constructible_v<F> &&
           std::is_default_constructible_v<F>)
struct shared_callable<F> {
  [[no_unique_address]] mutable std::remove_const_t<F> own;
  shared_callable() = default;  ///< used in another process
  explicit shared_callable(F& f) noexcept : own(f) {}
  F& get() const noexcept { return own; }
};

/// A pointer to a member as a function object, and any other callable as it is.
template <class F> decltype(auto) without_member_pointer(F& f) noexcept {
  if constexpr (std::is_member_pointer_v<std::remove_const_t<F>>)
    return std::mem_fn(f);
  else
    return (f);
}

}  // namespace sukima::detail
