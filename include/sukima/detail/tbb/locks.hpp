// SPDX-License-Identifier: Apache-2.0
// The locks of the TBB headers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace sukima::detail::tbb {

/// Holds a lock during its lifetime. \tparam Mutex  with lock, try_lock and unlock
template <class Mutex> class scoped_lock_of {
 public:
  scoped_lock_of() = default;
  explicit scoped_lock_of(Mutex& m) { acquire(m); }
  scoped_lock_of(const scoped_lock_of&) = delete;
  scoped_lock_of& operator=(const scoped_lock_of&) = delete;
  ~scoped_lock_of() {
    if (mutex_ != nullptr) release();
  }
  /// \pre it holds nothing
  void acquire(Mutex& m) {
    m.lock();
    mutex_ = &m;
  }
  bool try_acquire(Mutex& m) {
    if (!m.try_lock()) return false;
    mutex_ = &m;
    return true;
  }
  void release() {
    mutex_->unlock();
    mutex_ = nullptr;
  }

 private:
  Mutex* mutex_ = nullptr;
};

/// The same for a lock that readers share.
template <class Mutex> class scoped_shared_lock_of {
 public:
  scoped_shared_lock_of() = default;
  explicit scoped_shared_lock_of(Mutex& m, bool write = true) { acquire(m, write); }
  scoped_shared_lock_of(const scoped_shared_lock_of&) = delete;
  scoped_shared_lock_of& operator=(const scoped_shared_lock_of&) = delete;
  ~scoped_shared_lock_of() {
    if (mutex_ != nullptr) release();
  }
  /// \pre it holds nothing
  void acquire(Mutex& m, bool write = true) {
    if (write)
      m.lock();
    else
      m.lock_shared();
    mutex_ = &m;
    writes_ = write;
  }
  bool try_acquire(Mutex& m, bool write = true) {
    if (!(write ? m.try_lock() : m.try_lock_shared())) return false;
    mutex_ = &m;
    writes_ = write;
    return true;
  }
  void release() {
    Mutex& held = *mutex_;
    mutex_ = nullptr;
    if (writes_)
      held.unlock();
    else
      held.unlock_shared();
  }
  /// \returns false if another writer may have held the lock in between
  bool upgrade_to_writer() {
    if (writes_) return true;
    writes_ = true;
    return mutex_->upgrade();
  }
  /// \returns true: no writer can have held the lock in between
  bool downgrade_to_reader() {
    if (writes_) mutex_->downgrade();
    writes_ = false;
    return true;
  }
  bool is_writer() const { return writes_; }

 private:
  Mutex* mutex_ = nullptr;
  bool writes_ = false;
};

/// A mutex at which threads sleep. \tparam Fair  threads get the mutex in the order of their calls
template <bool Fair> class exclusive_lock {
 public:
  using scoped_lock = scoped_lock_of<exclusive_lock>;
  static constexpr bool is_rw_mutex = false;
  static constexpr bool is_recursive_mutex = false;
  static constexpr bool is_fair_mutex = Fair;

  exclusive_lock() = default;
  exclusive_lock(const exclusive_lock&) = delete;
  exclusive_lock& operator=(const exclusive_lock&) = delete;
  ~exclusive_lock() = default;

  void lock() {
    const unsigned mine = next_.fetch_add(1, std::memory_order_relaxed);
    for (unsigned now = turn_.load(std::memory_order_acquire); now != mine;
         now = turn_.load(std::memory_order_acquire))
      turn_.wait(now, std::memory_order_acquire);
  }
  bool try_lock() {
    unsigned now = turn_.load(std::memory_order_acquire);
    return next_.compare_exchange_strong(now, now + 1, std::memory_order_relaxed);
  }
  void unlock() {
    turn_.fetch_add(1, std::memory_order_release);
    turn_.notify_all();
  }

 private:
  std::atomic<unsigned> next_{0};  ///< no partner: counts only
  std::atomic<unsigned> turn_{0};  ///< pairs with: lock, try_lock, unlock
};
template <> class exclusive_lock<false> {
 public:
  using scoped_lock = scoped_lock_of<exclusive_lock>;
  static constexpr bool is_rw_mutex = false;
  static constexpr bool is_recursive_mutex = false;
  static constexpr bool is_fair_mutex = false;

  void lock() { mutex_.lock(); }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

/// A lock that readers share. While a writer waits, new readers wait, too.
template <bool Fair> class shared_lock {
 public:
  using scoped_lock = scoped_shared_lock_of<shared_lock>;
  static constexpr bool is_rw_mutex = true;
  static constexpr bool is_recursive_mutex = false;
  static constexpr bool is_fair_mutex = Fair;

  void lock() {
    std::unique_lock hold(lock_);
    ++waiting_writers_;
    free_.wait(hold, [this] { return holders_ == 0; });
    --waiting_writers_;
    holders_ = writer;
  }
  bool try_lock() {
    const std::lock_guard hold(lock_);
    if (holders_ != 0) return false;
    holders_ = writer;
    return true;
  }
  void unlock() {
    const std::lock_guard hold(lock_);
    holders_ = 0;
    free_.notify_all();
  }
  void lock_shared() {
    std::unique_lock hold(lock_);
    free_.wait(hold, [this] { return admits_reader(); });
    ++holders_;
  }
  bool try_lock_shared() {
    const std::lock_guard hold(lock_);
    if (!admits_reader()) return false;
    ++holders_;
    return true;
  }
  void unlock_shared() {
    const std::lock_guard hold(lock_);
    if (--holders_ == 0) free_.notify_all();
  }
  /// Turns a reader into the writer. \returns false if another writer may have held the lock in between
  bool upgrade() {
    std::unique_lock hold(lock_);
    if (holders_ == 1) {
      holders_ = writer;
      return true;
    }
    --holders_;
    ++waiting_writers_;
    free_.wait(hold, [this] { return holders_ == 0; });
    --waiting_writers_;
    holders_ = writer;
    return false;
  }
  /// Turns the writer into a reader.
  void downgrade() {
    const std::lock_guard hold(lock_);
    holders_ = 1;
    free_.notify_all();
  }

 private:
  static constexpr int writer = -1;
  bool admits_reader() const noexcept { return holders_ >= 0 && waiting_writers_ == 0; }

  std::mutex lock_;  // protects the members below
  std::condition_variable free_;
  int holders_ = 0;  ///< readers, or `writer`
  int waiting_writers_ = 0;
};

/// Locks nothing.
class no_lock {
 public:
  static constexpr bool is_recursive_mutex = true;
  static constexpr bool is_fair_mutex = true;
  void lock() {}
  bool try_lock() { return true; }
  void unlock() {}
  void lock_shared() {}
  bool try_lock_shared() { return true; }
  void unlock_shared() {}
  bool upgrade() { return true; }
  void downgrade() {}
};

}  // namespace sukima::detail::tbb
