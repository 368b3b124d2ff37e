// SPDX-License-Identifier: Apache-2.0
// The ranges that containers of the TBB headers pass to algorithms.
#pragma once

#include <oneapi/tbb/blocked_range.h>

#include <concepts>
#include <cstddef>
#include <iterator>

namespace sukima::detail::tbb {

/// A range of random-access iterators, with the types of a container.
template <class I> class container_range : public ::tbb::blocked_range<I> {
 public:
  using value_type = typename std::iterator_traits<I>::value_type;
  using reference = typename std::iterator_traits<I>::reference;
  using const_reference = const value_type&;
  using iterator = I;
  using difference_type = std::ptrdiff_t;
  using ::tbb::blocked_range<I>::blocked_range;
  /// A range of a const container from one of the same container.
  template <class J>
    requires(std::convertible_to<J, I> && !std::same_as<J, I>)
  container_range(const container_range<J>& r)  // NOLINT(google-explicit-constructor)
      : ::tbb::blocked_range<I>(r.begin(), r.end(), r.grainsize()) {}
  container_range(container_range& r, ::tbb::split half) : ::tbb::blocked_range<I>(r, half) {}
  container_range(container_range& r, ::tbb::proportional_split sizes) : ::tbb::blocked_range<I>(r, sizes) {}
};

}  // namespace sukima::detail::tbb
