// SPDX-License-Identifier: Apache-2.0
// tbb::concurrent_unordered_map and tbb::concurrent_unordered_multimap.
#pragma once

#include <oneapi/tbb/tbb_allocator.h>
#include <sukima/detail/tbb/names.hpp>
#include <sukima/detail/tbb/unordered.hpp>

#include <functional>
#include <utility>

namespace tbb {

/// A hash map. Any number of threads may insert, look up and iterate at the same time.
template <class Key, class T, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>,
          class Allocator = tbb_allocator<std::pair<const Key, T>>>
class concurrent_unordered_map
    : public ::sukima::detail::tbb::unordered<Key, std::pair<const Key, T>, Hash, Equal, Allocator, false> {
 public:
  using mapped_type = T;
  using ::sukima::detail::tbb::unordered<Key, std::pair<const Key, T>, Hash, Equal, Allocator,
                                         false>::unordered;
  using ::sukima::detail::tbb::unordered<Key, std::pair<const Key, T>, Hash, Equal, Allocator,
                                         false>::operator=;
};

/// The same for keys that may occur more than once.
template <class Key, class T, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>,
          class Allocator = tbb_allocator<std::pair<const Key, T>>>
class concurrent_unordered_multimap
    : public ::sukima::detail::tbb::unordered<Key, std::pair<const Key, T>, Hash, Equal, Allocator, true> {
 public:
  using mapped_type = T;
  using ::sukima::detail::tbb::unordered<Key, std::pair<const Key, T>, Hash, Equal, Allocator,
                                         true>::unordered;
  using ::sukima::detail::tbb::unordered<Key, std::pair<const Key, T>, Hash, Equal, Allocator,
                                         true>::operator=;
};

}  // namespace tbb
