// SPDX-License-Identifier: Apache-2.0
// The receiving end of a stream.
#pragma once

#include <sukima/objects/records.hpp>
#include <sukima/objects/stream_end.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace sukima::objects {

/// \addtogroup objects
/// @{

/// The receiving end of a stream. It belongs to one object. When the last receiving end is destroyed the
/// stream is broken for its senders. Source: see out.
template <class T> class in : public detail::stream_end {
 public:
  /// Receives the next message; waits for it.
  /// \returns empty if the stream is closed and all its messages have been received
  /// \throws stream_failed if a sender has failed; usage_error if the end belongs to another object;
  ///         `aborted` if the program is aborted; what moving T throws: then the message stays in the stream,
  ///         for this object or another receiver. An encoded message between processes, whose decoding or
  ///         moving throws, has left the stream
  /// \par Complexity constant
  std::optional<T> receive() { return take(true, nullptr); }
  /// The same without waiting: returns empty also if there is no message now. \par Complexity constant
  std::optional<T> try_receive() {
    std::optional<T> found = take(false, nullptr);
    if (!found) poll();
    return found;
  }
  /// The same, but waits at most for that time. \par Complexity as out::send_for
  template <class Rep, class Period> std::optional<T> receive_for(
      std::chrono::duration<Rep, Period> longest) {
    const auto until = detail::end_of_wait(longest);
    std::optional<T> found = take(true, &until);
    if (!found) poll();
    return found;
  }
  /// Waits for a message, then takes as many as there are and fit into `to`.
  /// \returns how many; 0 if the stream is closed and all its messages have been received, or if `to` is
  ///          empty
  /// \throws as receive; messages that were taken before the exception are in `to`, but their number is not
  ///         returned
  /// \par Complexity linear in the number of messages
  std::size_t receive_some(std::span<T> to) {
    detail::stream_core& s = core();
    if (to.empty()) return 0;
    detail::object_core& me = detail::user_of(s, owner_, false);
    std::uint64_t taken = 0;
    if constexpr (can_travel<T>)
      if (s.in_records) {
        try {
          for (; taken < to.size(); ++taken) {
            std::optional<T> message = detail::take_from_record<T>(me, s, taken == 0, nullptr);
            if (!message) break;
            to[taken] = *std::move(message);
          }
        } catch (const stream_failed&) {
          if (taken == 0) throw;  // otherwise the next call throws it
        }
        return taken;
      }
    for (;;) {
      const bool ended = (s.now() & detail::stream_core::closed) != 0;
      {
        const detail::side_lock hold(s, false);
        const std::uint64_t head = s.words->head.load(std::memory_order_relaxed);
        const std::uint64_t most = std::min<std::uint64_t>(s.messages(head), to.size());
        // An assignment destroys the old value, and a destructor may fork, too.
        constexpr bool never_forks =
            std::is_nothrow_move_assignable_v<T> && std::is_trivially_destructible_v<T>;
        detail::use_slots<never_forks>(s, detail::stream_core::receivers_wait, [&] {
          // Runs also if an assignment throws: the messages taken before have already been destroyed.
          struct giving_back {
            detail::stream_core& s;
            const std::uint64_t head;
            const std::uint64_t& taken;
            ~giving_back() {
              if (taken != 0) s.give_back(head + taken, taken);
            }
          } const at_end{s, head, taken};
          for (; taken < most; ++taken) {
            T& message = *std::launder(s.slot_of<T>(head + taken));
            to[taken] = std::move(message);
            std::destroy_at(&message);
          }
        });
      }
      if (taken != 0) break;
      if (ended) {
        s.throw_if_failed();
        detail::count_message(me);
        return 0;
      }
      detail::wait_for(me, s, true);
    }
    detail::count_message(me, static_cast<unsigned>(std::min<std::uint64_t>(taken, detail::island::slice)));
    return taken;
  }
  /// Whether no sender is left and all messages have been received. \throws usage_error if the end was moved
  /// from
  bool is_closed() const {
    const detail::stream_core& s = core();
    return (s.now() & detail::stream_core::closed) != 0 && !s.has_message();
  }
  /// Returns how many messages of the stream were dropped for newer ones (overflow::drop_oldest).
  std::uint64_t dropped() const { return detail::dropped(core()); }
  /// Makes a case of select that calls f(message) as soon as there is a message.
  template <class F> detail::receive_case<T, F, detail::no_function> on(F f);
  /// The same, and calls ended() once, when the stream is closed and all messages have been received. For an
  /// object that then continues with other streams.
  template <class F, class Ended> detail::receive_case<T, F, Ended> on(F f, Ended ended);

  /// An input iterator that receives messages until the stream is closed. Each increment throws as `receive`.
  class iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    explicit iterator(in& from) : from_(&from) { ++*this; }
    // As with any iterator, not to be called at the end.
    T& operator*() const noexcept { return *message_; }  // NOLINT(bugprone-unchecked-optional-access)
    iterator& operator++() {
      if constexpr (detail::fits_registers<T> && std::is_move_assignable_v<T>) {
        message_ = from_->receive();
      } else {
        message_.reset();
        from_->take_into(message_, true, nullptr);
      }
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const noexcept { return !message_.has_value(); }

   private:
    in* from_ = nullptr;
    mutable std::optional<T> message_;
  };
  /// Receives the first message, for a loop over all messages: `for (auto& message : end)`. \throws as
  /// receive
  iterator begin() { return iterator(*this); }
  /// Returns the end of such a loop.
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  template <class> friend class stream;
  template <class, class, class> friend struct detail::receive_case;
  explicit in(detail::stream_core& core) : stream_end(core, false) {}
  bool end_was_reported_ = false;  ///< whether a select has called `ended`

  /// Polls after an attempt without success: other objects run first, and an abort takes effect.
  void poll() { detail::count_message(detail::user_of(core(), owner_, false)); }
  [[gnu::always_inline]] std::optional<T> take(bool waits, const detail::clock::time_point* until) {
    if constexpr (detail::fits_registers<T>)
      return take_in_registers(waits, until);
    else
      return take_in_place(waits, until);
  }
  // Inlined: see out::put. The optional is made in the return statement. Otherwise g++ writes its parts
  // separately and then copies it as a whole, and the processor waits for that copy longer than for all the
  // rest.
  [[gnu::always_inline]] std::optional<T> take_in_registers(bool waits,
                                                            const detail::clock::time_point* until) {
    detail::stream_core& s = core();
    detail::object_core& me = detail::user_of(s, owner_, false);
    if (!s.shared && find_in_island(me, s, waits, until))
      return std::optional<T>(std::in_place, move_from_slot(me, s));
    if (!s.shared) return std::nullopt;
    std::optional<T> taken;
    take_shared(taken, me, s, waits, until);
    if (!taken) return std::nullopt;
    return std::optional<T>(std::in_place, *std::move(taken));
  }
  /// Returns the same variable on each path, so the compiler makes the optional directly in the caller's
  /// memory.
  [[gnu::always_inline]] std::optional<T> take_in_place(bool waits, const detail::clock::time_point* until) {
    std::optional<T> taken;
    take_into(taken, waits, until);
    return taken;
  }
  /// Moves a message once, from the stream into the optional. \pre the optional is empty
  [[gnu::always_inline]] void take_into(std::optional<T>& taken, bool waits,
                                        const detail::clock::time_point* until) {
    detail::stream_core& s = core();
    detail::object_core& me = detail::user_of(s, owner_, false);
    if (!s.shared && find_in_island(me, s, waits, until)) {
      const std::uint64_t first = first_in_island(s);
      move_into(taken, s, message_at(s, first));
      drop_first_in_island(me, s, first);
    } else if (s.shared) {
      take_shared(taken, me, s, waits, until);
    }
  }
  [[gnu::always_inline]] static void move_into(std::optional<T>& taken, detail::stream_core& s, T& message) {
    detail::use_slots<std::is_nothrow_move_constructible_v<T>>(s, detail::stream_core::receivers_wait,
                                                               [&] { taken.emplace(std::move(message)); });
  }
  /// Returns the number of the first message. To be read once for each message, because compilers do not
  /// merge loads of an atomic.
  [[gnu::always_inline]] static std::uint64_t first_in_island(const detail::stream_core& s) noexcept {
    return s.own_words.head.load(std::memory_order_relaxed);
  }
  [[gnu::always_inline]] static T& message_at(detail::stream_core& s, std::uint64_t number) noexcept {
    return *std::launder(s.slot_of<T>(number));
  }
  [[gnu::always_inline]] static void drop_first_in_island(detail::object_core& me, detail::stream_core& s,
                                                          std::uint64_t first) {
    detail::destroy_in_slot(message_at(s, first));
    s.give_back_in_island(first + 1);
    detail::count_message(me);
  }
  [[gnu::always_inline]] static T move_from_slot(detail::object_core& me, detail::stream_core& s) {
    const std::uint64_t first = first_in_island(s);
    T message(std::move(message_at(s, first)));
    drop_first_in_island(me, s, first);
    return message;
  }
  [[gnu::noinline]] static void take_shared(std::optional<T>& taken, detail::object_core& me,
                                            detail::stream_core& core, bool waits,
                                            const detail::clock::time_point* until) {
    if constexpr (can_travel<T>)
      if (core.in_records) {
        // T need not be assignable.
        if (std::optional<T> message = detail::take_from_record<T>(me, core, waits, until))
          taken.emplace(*std::move(message));
        return;
      }
    for (;;) {
      // Read before the ring is checked, so that messages sent before the stream closed are found.
      const bool ended = (core.now() & detail::stream_core::closed) != 0;
      {
        const detail::side_lock hold(core, false);
        const std::uint64_t head = core.words->head.load(std::memory_order_relaxed);
        if (core.messages(head) != 0) {
          T& message = *std::launder(core.slot_of<T>(head));
          move_into(taken, core, message);
          detail::destroy_in_slot(message);
          core.give_back(head + 1, 1);
        }
      }
      if (taken) [[likely]]
        break;
      if (ended) {
        core.throw_if_failed();
        break;
      }
      if (!waits || !detail::wait_for(me, core, true, until)) return;
    }
    detail::count_message(me);
  }
  /// Returns whether there is a message; waits for one if `waits`. Also returns false if the island has been
  /// divided, and the stream is shared now.
  [[gnu::always_inline]] static bool find_in_island(detail::object_core& me, detail::stream_core& s,
                                                    bool waits, const detail::clock::time_point* until) {
    while (s.own_words.tail.load(std::memory_order_relaxed) ==
           s.own_words.head.load(std::memory_order_relaxed)) {
      if ((s.own_words.state.load(std::memory_order_relaxed) & detail::stream_core::closed) != 0) {
        s.throw_if_failed();
        detail::count_message(me);  // the end counts as an operation, after which the object computes
        return false;
      }
      if (!waits || !detail::wait_for(me, s, true, until) || s.shared) return false;
    }
    return true;
  }
};

/// @}
}  // namespace sukima::objects
