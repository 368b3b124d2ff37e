// SPDX-License-Identifier: Apache-2.0
// tbb::concurrent_set and tbb::concurrent_multiset.
#pragma once

#include <oneapi/tbb/tbb_allocator.h>
#include <sukima/detail/tbb/names.hpp>
#include <sukima/detail/tbb/ordered.hpp>

#include <functional>
#include <utility>

namespace tbb {

/// An ordered set. Any number of threads may insert, look up and iterate at the same time.
template <class Key, class Compare = std::less<Key>, class Allocator = tbb_allocator<Key>>
class concurrent_set : public ::sukima::detail::tbb::ordered<Key, Key, Compare, Allocator, false> {
 public:
  using ::sukima::detail::tbb::ordered<Key, Key, Compare, Allocator, false>::ordered;
  using ::sukima::detail::tbb::ordered<Key, Key, Compare, Allocator, false>::operator=;
};

/// The same for keys that may occur more than once.
template <class Key, class Compare = std::less<Key>, class Allocator = tbb_allocator<Key>>
class concurrent_multiset : public ::sukima::detail::tbb::ordered<Key, Key, Compare, Allocator, true> {
 public:
  using ::sukima::detail::tbb::ordered<Key, Key, Compare, Allocator, true>::ordered;
  using ::sukima::detail::tbb::ordered<Key, Key, Compare, Allocator, true>::operator=;
};

}  // namespace tbb
