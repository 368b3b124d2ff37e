// SPDX-License-Identifier: Apache-2.0
// tbb::cache_aligned_allocator: allocates memory on cache lines of its own.
#pragma once

#include <sukima/detail/tbb/errors.hpp>
#include <sukima/detail/tbb/names.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory_resource>
#include <new>
#include <type_traits>

namespace tbb {

template <class T> class cache_aligned_allocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using is_always_equal = std::true_type;

  cache_aligned_allocator() = default;
  template <class U> cache_aligned_allocator(const cache_aligned_allocator<U>&) noexcept {}
  [[nodiscard]] T* allocate(std::size_t n) {
    if (n > max_size()) ::sukima::detail::tbb::throw_error(std::bad_array_new_length());
    // A whole number of cache lines, so that the next block begins on another line.
    const std::size_t bytes = (n * sizeof(T) + line - 1) / line * line;
    return static_cast<T*>(::operator new(bytes, alignment));
  }
  void deallocate(T* p, std::size_t) noexcept { ::operator delete(p, alignment); }
  std::size_t max_size() const noexcept {
    return (std::numeric_limits<std::size_t>::max() - line) / sizeof(T);
  }
  template <class U> bool operator==(const cache_aligned_allocator<U>&) const noexcept { return true; }

 private:
  static constexpr std::size_t line = 128;
  static constexpr std::align_val_t alignment{std::max(line, alignof(T))};
};

/// A memory resource whose blocks are on cache lines of their own.
class cache_aligned_resource : public std::pmr::memory_resource {
 public:
  cache_aligned_resource() : cache_aligned_resource(std::pmr::get_default_resource()) {}
  explicit cache_aligned_resource(std::pmr::memory_resource* upstream) : upstream_(upstream) {}
  std::pmr::memory_resource* upstream_resource() const { return upstream_; }

 private:
  static constexpr std::size_t line = 128;
  static std::size_t rounded(std::size_t bytes) {
    return (std::max<std::size_t>(bytes, 1) + line - 1) / line * line;
  }
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    return upstream_->allocate(rounded(bytes), std::max(alignment, line));
  }
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
    upstream_->deallocate(p, rounded(bytes), std::max(alignment, line));
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    if (this == &other) return true;
#if defined(__cpp_rtti)
    const auto* const same = dynamic_cast<const cache_aligned_resource*>(&other);
    return same != nullptr && (upstream_ == same->upstream_ || upstream_->is_equal(*same->upstream_));
#else
    return false;
#endif
  }

  std::pmr::memory_resource* upstream_;
};

}  // namespace tbb
