// SPDX-License-Identifier: Apache-2.0
// tbb::scalable_allocator: the program's own operator new and malloc.
#pragma once

#include <oneapi/tbb/tbb_allocator.h>

#include <cstddef>
#include <cstdlib>

namespace tbb {
template <class T> class scalable_allocator : public tbb_allocator<T> {
 public:
  scalable_allocator() = default;
  template <class U> scalable_allocator(const scalable_allocator<U>&) noexcept {}
  template <class U> bool operator==(const scalable_allocator<U>&) const noexcept { return true; }
};
}  // namespace tbb

inline void* scalable_malloc(std::size_t size) { return std::malloc(size); }
inline void scalable_free(void* p) { std::free(p); }
inline void* scalable_realloc(void* p, std::size_t size) { return std::realloc(p, size); }
inline void* scalable_calloc(std::size_t count, std::size_t size) { return std::calloc(count, size); }
inline void* scalable_aligned_malloc(std::size_t size, std::size_t alignment) {
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
inline void scalable_aligned_free(void* p) { std::free(p); }
