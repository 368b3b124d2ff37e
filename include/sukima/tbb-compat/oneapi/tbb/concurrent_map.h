// SPDX-License-Identifier: Apache-2.0
// tbb::concurrent_map and tbb::concurrent_multimap.
#pragma once

#include <oneapi/tbb/tbb_allocator.h>
#include <sukima/detail/tbb/names.hpp>
#include <sukima/detail/tbb/ordered.hpp>

#include <functional>
#include <utility>

namespace tbb {

/// An ordered map. Any number of threads may insert, look up and iterate at the same time.
template <class Key, class T, class Compare = std::less<Key>,
          class Allocator = tbb_allocator<std::pair<const Key, T>>>
class concurrent_map
    : public ::sukima::detail::tbb::ordered<Key, std::pair<const Key, T>, Compare, Allocator, false> {
 public:
  using mapped_type = T;
  using ::sukima::detail::tbb::ordered<Key, std::pair<const Key, T>, Compare, Allocator, false>::ordered;
  using ::sukima::detail::tbb::ordered<Key, std::pair<const Key, T>, Compare, Allocator, false>::operator=;
};

/// The same for keys that may occur more than once.
template <class Key, class T, class Compare = std::less<Key>,
          class Allocator = tbb_allocator<std::pair<const Key, T>>>
class concurrent_multimap
    : public ::sukima::detail::tbb::ordered<Key, std::pair<const Key, T>, Compare, Allocator, true> {
 public:
  using mapped_type = T;
  using ::sukima::detail::tbb::ordered<Key, std::pair<const Key, T>, Compare, Allocator, true>::ordered;
  using ::sukima::detail::tbb::ordered<Key, std::pair<const Key, T>, Compare, Allocator, true>::operator=;
};

}  // namespace tbb
