// SPDX-License-Identifier: Apache-2.0
// tbb::concurrent_unordered_set and tbb::concurrent_unordered_multiset.
#pragma once

#include <oneapi/tbb/tbb_allocator.h>
#include <sukima/detail/tbb/names.hpp>
#include <sukima/detail/tbb/unordered.hpp>

#include <functional>
#include <utility>

namespace tbb {

/// A hash set. Any number of threads may insert, look up and iterate at the same time.
template <class Key, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>,
          class Allocator = tbb_allocator<Key>>
class concurrent_unordered_set
    : public ::sukima::detail::tbb::unordered<Key, Key, Hash, Equal, Allocator, false> {
 public:
  using ::sukima::detail::tbb::unordered<Key, Key, Hash, Equal, Allocator, false>::unordered;
  using ::sukima::detail::tbb::unordered<Key, Key, Hash, Equal, Allocator, false>::operator=;
};

/// The same for keys that may occur more than once.
template <class Key, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>,
          class Allocator = tbb_allocator<Key>>
class concurrent_unordered_multiset
    : public ::sukima::detail::tbb::unordered<Key, Key, Hash, Equal, Allocator, true> {
 public:
  using ::sukima::detail::tbb::unordered<Key, Key, Hash, Equal, Allocator, true>::unordered;
  using ::sukima::detail::tbb::unordered<Key, Key, Hash, Equal, Allocator, true>::operator=;
};

}  // namespace tbb
