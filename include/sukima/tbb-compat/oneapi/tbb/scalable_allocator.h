// SPDX-License-Identifier: Apache-2.0
// tbb::scalable_allocator and the functions scalable_…: allocate with the program's own operator new and
// malloc.
#pragma once

#include <oneapi/tbb/tbb_allocator.h>

#include <malloc.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

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
/// \returns null, with EINVAL in errno, if `size` is 0 or the alignment is not a power of two
inline void* scalable_aligned_malloc(std::size_t size, std::size_t alignment) {
  void* p = nullptr;
  const bool is_valid = size != 0 && std::has_single_bit(alignment);
  const int error = is_valid ? posix_memalign(&p, std::max(alignment, sizeof(void*)), size) : EINVAL;
  if (error != 0) errno = error;
  return error == 0 ? p : nullptr;
}
inline void scalable_aligned_free(void* p) { std::free(p); }
/// Returns the number of usable bytes, at least the requested number; 0 for null.
inline std::size_t scalable_msize(void* p) { return malloc_usable_size(p); }
inline void* scalable_aligned_realloc(void* p, std::size_t size, std::size_t alignment) {
  if (p != nullptr && size == 0 && std::has_single_bit(alignment)) {
    std::free(p);
    return nullptr;
  }
  void* const moved = scalable_aligned_malloc(size, alignment);
  if (p != nullptr && moved != nullptr) {
    std::memcpy(moved, p, std::min(size, scalable_msize(p)));
    std::free(p);
  }
  return moved;
}
inline int scalable_posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  return posix_memalign(memory, alignment, size);
}

enum ScalableAllocationResult {
  TBBMALLOC_OK,
  TBBMALLOC_INVALID_PARAM,
  TBBMALLOC_UNSUPPORTED,
  TBBMALLOC_NO_MEMORY,
  TBBMALLOC_NO_EFFECT
};
enum AllocationModeParam {
  TBBMALLOC_USE_HUGE_PAGES,
  USE_HUGE_PAGES = TBBMALLOC_USE_HUGE_PAGES,
  TBBMALLOC_SET_SOFT_HEAP_LIMIT,
  TBBMALLOC_SET_HUGE_SIZE_THRESHOLD
};
enum ScalableAllocationCmd { TBBMALLOC_CLEAN_ALL_BUFFERS, TBBMALLOC_CLEAN_THREAD_BUFFERS };

/// Has no effect, because the program's own malloc has none of these modes.
inline int scalable_allocation_mode(int mode, std::intptr_t) {
  const bool is_known = mode >= TBBMALLOC_USE_HUGE_PAGES && mode <= TBBMALLOC_SET_HUGE_SIZE_THRESHOLD;
  return is_known ? TBBMALLOC_NO_EFFECT : TBBMALLOC_INVALID_PARAM;
}
/// Has no effect. \param nothing  null
inline int scalable_allocation_command(int command, void* nothing) {
  const bool is_known = command >= TBBMALLOC_CLEAN_ALL_BUFFERS && command <= TBBMALLOC_CLEAN_THREAD_BUFFERS;
  return is_known && nothing == nullptr ? TBBMALLOC_NO_EFFECT : TBBMALLOC_INVALID_PARAM;
}
