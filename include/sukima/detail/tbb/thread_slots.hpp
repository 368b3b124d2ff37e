// SPDX-License-Identifier: Apache-2.0
// A pointer for each thread that needs one, found without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace sukima::detail::tbb {

/// Identifies the calling thread during its lifetime.
using thread_key = const void*;
[[gnu::noinline]] inline thread_key this_thread_key() noexcept {
  static thread_local char mine;
  asm volatile("" ::: "memory");  // the next call of the caller may be on another thread
  return &mine;
}

/// A T for each key: a hash table of lists that only grow, and all objects in the order of their insertion.
/// No other thread may use the object during `clear` and assignment.
template <class T> class thread_slots {
 public:
  struct slot {
    thread_key key;
    T value;
    slot* next = nullptr;
  };
  thread_slots() = default;
  thread_slots(const thread_slots&) = delete;
  thread_slots& operator=(const thread_slots&) = delete;
  ~thread_slots() = default;

  /// Null: the key has none.
  T* find(thread_key key) const noexcept {
    for (slot* s = table_[bucket(key)].load(std::memory_order_acquire); s != nullptr; s = s->next)
      if (s->key == key) return &s->value;
    return nullptr;
  }
  /// \pre the calling thread has the key, and there is no slot for it
  T& insert(thread_key key, T value) {
    auto own = std::make_unique<slot>(key, std::move(value));
    slot& added = *own;
    const std::lock_guard hold(lock_);
    all_.push_back(std::move(own));
    const std::size_t list = bucket(key);
    added.next = table_[list].load(std::memory_order_relaxed);
    table_[list].store(&added, std::memory_order_release);
    return added.value;
  }
  void clear() noexcept {
    for (std::size_t i = 0; i < buckets; ++i) table_[i].store(nullptr, std::memory_order_relaxed);
    all_.clear();
  }
  void swap(thread_slots& other) noexcept {
    all_.swap(other.all_);
    for (std::size_t i = 0; i < buckets; ++i) {
      slot* const mine = table_[i].load(std::memory_order_relaxed);
      table_[i].store(other.table_[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
      other.table_[i].store(mine, std::memory_order_relaxed);
    }
  }
  std::size_t size() const noexcept {
    const std::lock_guard hold(lock_);
    return all_.size();
  }
  const slot& operator[](std::size_t i) const noexcept { return *all_[i]; }
  slot& operator[](std::size_t i) noexcept { return *all_[i]; }

 private:
  static constexpr std::size_t buckets = 64;
  static std::size_t bucket(thread_key key) noexcept {
    // Thread-local storage of two threads differs by whole pages.
    return (reinterpret_cast<std::uintptr_t>(key) >> 12) * 0x9e3779b97f4a7c15U >> 58;
  }

  mutable std::mutex lock_;  // protects all_
  std::array<std::atomic<slot*>, buckets> table_{};  ///< pairs with: find, insert
  std::vector<std::unique_ptr<slot>> all_;
};

}  // namespace sukima::detail::tbb
