// SPDX-License-Identifier: Apache-2.0
// tbb::tbb_allocator: allocates with the program's own operator new.
#pragma once

#include <sukima/detail/tbb/names.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>

namespace tbb {

template <class T> class tbb_allocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using is_always_equal = std::true_type;
  enum malloc_type { scalable, standard };

  tbb_allocator() = default;
  template <class U> tbb_allocator(const tbb_allocator<U>&) noexcept {}
  [[nodiscard]] T* allocate(std::size_t n) { return std::allocator<T>().allocate(n); }
  void deallocate(T* p, std::size_t n) noexcept { std::allocator<T>().deallocate(p, n); }
  static malloc_type allocator_type() { return standard; }
  template <class U> bool operator==(const tbb_allocator<U>&) const noexcept { return true; }
};

}  // namespace tbb
