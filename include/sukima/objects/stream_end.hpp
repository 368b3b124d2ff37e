// SPDX-License-Identifier: Apache-2.0
// The common base of the two ends of a stream.
#pragma once

#include <sukima/objects/side_lock.hpp>
#include <sukima/suspend.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace sukima::objects {

template <class T> class in;
template <class T> class out;
struct tick;

namespace detail {

/// The function of a timer's object.
void run_timer(out<tick> to, clock::duration period);
inline std::uint64_t dropped(const stream_core& s) noexcept {
  return s.words->dropped.load(std::memory_order_relaxed);
}

/// Whether messages are small and trivial. Such messages are passed by value, and received into an optional
/// that is made from a value.
template <class T>
inline constexpr bool fits_registers = std::is_trivially_copyable_v<T> && sizeof(T) <= 64;

/// Calls f, which moves messages out of their slots, or makes messages there. If f throws, the message or the
/// room stays, the next object of that side is woken, and the operation ends. A constructor that may throw
/// may also fork. So the object keeps its thread: another object of its island would use the same slot, and a
/// lock belongs to the thread.
template <bool never_throws, class F> [[gnu::always_inline]] inline void use_slots(stream_core& s,
                                                                                   std::uint32_t side,
                                                                                   F&& f) {
  if constexpr (never_throws) {
    std::forward<F>(f)();
  } else {
    try {
      sukima::thread_bound(std::forward<F>(f));
    } catch (...) {
      s.leave_slots(side);
      throw;
    }
  }
}

/// Destroys a message in its slot. A destructor may fork, so the object keeps its thread as in use_slots.
template <class T> [[gnu::always_inline]] inline void destroy_in_slot(T& message) noexcept {
  if constexpr (std::is_trivially_destructible_v<T>)
    std::destroy_at(&message);
  else
    sukima::thread_bound([&message] { std::destroy_at(&message); });
}

/// Counts a new end of that side. \throws usage_error after program::run has begun
void count_end(stream_core& s, bool out);

struct no_function {};
template <class T, class F, class Ended> struct receive_case;
template <class T, class F> struct room_case;

/// The right to use one side of a stream. It belongs to one object.
class stream_end {
 public:
  stream_end(stream_end&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)), owner_(other.owner_), out_(other.out_) {}
  stream_end& operator=(stream_end&& other) noexcept {
    if (this != &other) {
      close();
      core_ = std::exchange(other.core_, nullptr);
      owner_ = other.owner_;
      out_ = other.out_;
    }
    return *this;
  }
  ~stream_end() { close(); }

 protected:
  /// \throws usage_error after program::run has begun
  stream_end(stream_core& core, bool out) : core_(&core), out_(out) { count_end(core, out); }
  void close() noexcept {
    if (core_ != nullptr) std::exchange(core_, nullptr)->release(out_, owner_);
  }
  stream_core& core() const {
    if (core_ == nullptr) throw usage_error("sukima: an end of a stream was used after it was moved from");
    return *core_;
  }

  stream_core* core_;
  object_core* owner_ = nullptr;
  bool out_;

 private:
  friend void bind_end(stream_end& e, object_core& owner);
};

/// Gives an end to an object. \throws usage_error if the end belongs to another object
void bind_end(stream_end& e, object_core& owner);

}  // namespace detail

}  // namespace sukima::objects
