// SPDX-License-Identifier: Apache-2.0
// Calls that describe fibers and tasks to AddressSanitizer and ThreadSanitizer.
//
// A program may be compiled with a sanitizer while this library is not. Then the sanitizer sees the program's
// code, the templates in it and the C library's functions, but nothing of this library. So the library calls
// the sanitizers' functions at switches and hand-overs. These are weak references, which are null in a
// program without a sanitizer.
//   stacks     AddressSanitizer must know which stack runs, ThreadSanitizer which fiber. A switch orders all
//              actions of a thread before it ahead of all actions of the thread after it.
//   hand-overs The library's atomics order the accesses of a program's threads, and ThreadSanitizer does not
//              see these atomics. So the library calls `hands_over(x)` before its own release, and
//              `takes_over(x)` after the acquire that is its partner, with the same address. It states only
//              orders that it guarantees to programs, so races of the program itself are still found.
// A library that is compiled with ThreadSanitizer states no hand-overs, because ThreadSanitizer sees and
// checks the library's atomics.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_THREAD__)
#define SUKIMA_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SUKIMA_TSAN 1
#endif
#endif

extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** save, const void* bottom, std::size_t size);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* saved, const void** bottom, std::size_t* size);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* begin, std::size_t size);
[[gnu::weak]] void __asan_handle_no_return();
[[gnu::weak]] void __lsan_register_root_region(const void* begin, std::size_t size);
[[gnu::weak]] void __lsan_unregister_root_region(const void* begin, std::size_t size);
[[gnu::weak]] void __lsan_disable();
[[gnu::weak]] void __lsan_enable();
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
}

namespace sukima::detail {

#if defined(SUKIMA_TSAN)
inline constexpr bool library_has_tsan = true;
#else
inline constexpr bool library_has_tsan = false;
#endif

/// Registers a range whose contents may own memory. LeakSanitizer does not search mappings by itself, and
/// fibers of the default runtime live as long as the process.
inline void begins_to_own(const void* begin, std::size_t size) noexcept {
  if (__lsan_register_root_region != nullptr) __lsan_register_root_region(begin, size);
}
inline void ends_to_own(const void* begin, std::size_t size) noexcept {
  if (__lsan_unregister_root_region != nullptr) __lsan_unregister_root_region(begin, size);
}

/// During its lifetime, LeakSanitizer ignores memory that the calling thread allocates.
class unchecked_allocations {
 public:
  unchecked_allocations() noexcept {
    if (__lsan_disable != nullptr) __lsan_disable();
  }
  ~unchecked_allocations() {
    if (__lsan_enable != nullptr) __lsan_enable();
  }
  unchecked_allocations(const unchecked_allocations&) = delete;
  unchecked_allocations& operator=(const unchecked_allocations&) = delete;
};

inline bool program_has_asan() noexcept { return __sanitizer_start_switch_fiber != nullptr; }
inline bool program_has_tsan() noexcept { return __tsan_switch_to_fiber != nullptr; }

/// Orders all actions of this thread so far before all actions of a thread after its `takes_over` of this
/// address.
inline void hands_over(const void* address) noexcept {
  if constexpr (!library_has_tsan)
    if (__tsan_release != nullptr) [[unlikely]]
      __tsan_release(const_cast<void*>(address));
}
inline void takes_over(const void* address) noexcept {
  if constexpr (!library_has_tsan)
    if (__tsan_acquire != nullptr) [[unlikely]]
      __tsan_acquire(const_cast<void*>(address));
}

}  // namespace sukima::detail
