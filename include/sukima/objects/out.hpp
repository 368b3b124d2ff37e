// SPDX-License-Identifier: Apache-2.0
// The sending end of a stream.
#pragma once

#include <sukima/objects/records.hpp>
#include <sukima/objects/stream_end.hpp>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

namespace sukima::objects {

/// \addtogroup objects
/// @{

/// The results of an attempt to send.
enum class send_result {
  sent,   ///< the message is in the stream
  full,   ///< the stream had no room, up to the time given
  broken  ///< no receiver is left
};

/// The ways in which a full stream treats another message.
enum class overflow {
  wait,  ///< its sender waits for room
  drop_oldest  ///< the oldest message is dropped; out::dropped and in::dropped count these
};

/// The message of a timer (program::timer).
struct tick {
  /// Number of the period that has ended: 1, 2, … Numbers are missing if ticks were not received in time.
  std::uint64_t number = 0;
};

/// The sending end of a stream. It belongs to one object, and closes when it is destroyed. The stream is
/// closed for its receivers when all its sending ends are closed. Source: Lamport's ring buffer. Several
/// senders, or several receivers, that run at the same time exclude one another by a lock
/// (sukima/objects/core.hpp).
template <class T> class out : public detail::stream_end {
 public:
  /// Sends a message; waits until there is room. The message is constructed in the stream itself, by one move
  /// or copy. A constructor that is noexcept must not fork or wait.
  /// \throws stream_broken if no receiver is left; message_too_large; usage_error if the end belongs to
  ///         another object; `aborted` if the program is aborted; what T throws
  /// \par Complexity constant
  void send(T value)
    requires(detail::fits_registers<T>)
  {
    emplace(std::move(value));
  }
  /// The same for a message that is not small and trivial: moves it.
  void send(T&& value)
    requires(!detail::fits_registers<T>)
  {
    emplace(std::move(value));
  }
  /// The same for a message that is not small and trivial: copies it.
  void send(const T& value)
    requires(!detail::fits_registers<T> && std::is_copy_constructible_v<T>)
  {
    emplace(value);
  }
  /// The same for the message T(arguments…), which is constructed in the stream as soon as there is room.
  template <class... Arguments>
    requires std::is_constructible_v<T, Arguments...>
  void emplace(Arguments&&... arguments) {
    if (put(true, nullptr, std::forward<Arguments>(arguments)...) == send_result::broken)
      core_->throw_broken(owner_);
  }
  /// Sends a message if there is room now. The message is moved from only if it was sent. \throws as send,
  /// without stream_broken \par Complexity constant
  send_result try_send(T& value) { return polled(put(false, nullptr, std::move(value))); }
  /// The same for an rvalue.
  send_result try_send(T&& value) { return polled(put(false, nullptr, std::move(value))); }
  /// Sends a message; waits for room, but at most for that time. \throws as send, without stream_broken
  /// \par Complexity constant; if it waits, logarithmic in the number of waits that have a time
  template <class Rep, class Period> send_result send_for(T& value,
                                                          std::chrono::duration<Rep, Period> longest) {
    const auto until = detail::end_of_wait(longest);
    return polled(put(true, &until, std::move(value)));
  }
  /// Sends the elements of a range. Publishes together as many elements of a contiguous range, such as a
  /// std::vector, as have room, and sends those of any other range one by one: its iterators may themselves
  /// wait for an element. The elements of an rvalue are moved. Those of a view, such as std::span, are
  /// copied, because they belong to another range.
  /// \throws as send; what the iterators throw; elements before the exception were sent
  /// \par Complexity linear in the number of messages
  template <class R> void send_all(R&& messages) {
    constexpr bool copies = std::is_lvalue_reference_v<R> || std::ranges::view<std::remove_cv_t<R>>;
    auto next = std::begin(messages);
    const auto last = std::end(messages);
    // An iterator that calls a function may wait in it, such as that of a receiving end, and so may a
    // comparison with the end, such as that of std::views::take_while. So an object calls them before it
    // holds a lock and chooses a slot. Pointers call no functions.
    using iterator = decltype(next);
    if constexpr (std::contiguous_iterator<iterator> &&
                  std::sized_sentinel_for<std::remove_const_t<decltype(last)>, iterator>) {
      const auto count = static_cast<std::uint64_t>(last - next);
      if (count != 0) send_elements<copies>(std::to_address(next), count);
    } else {
      static_cast<void>(core());  // throws for an end that was moved from, even if the range is empty
      for (; next != last; ++next)
        if constexpr (copies)
          emplace(*next);
        else
          emplace(std::move(*next));
    }
  }
  /// Whether no receiver is left.
  bool is_broken() const { return (core().now() & detail::stream_core::broken) != 0; }
  /// Whether program::stop() was called. An object that only sends should then end.
  bool stop_requested() const { return detail::stop_requested(core()); }
  /// Returns how many messages of the stream were dropped for newer ones (overflow::drop_oldest).
  std::uint64_t dropped() const { return detail::dropped(core()); }
  /// Makes another sending end of the same stream, for another object. Must be called before program::run.
  /// \throws usage_error after program::run has begun
  out share() const { return out(core()); }
  /// Makes a case of select that sends the value and calls h() as soon as there is room. If another case is
  /// served, the value is unchanged. The value must exist until select returns.
  template <class F> detail::room_case<T, F> on_room(T& value, F h);

 private:
  template <class> friend class stream;
  template <class, class> friend struct detail::room_case;
  friend void detail::run_timer(out<tick> to, detail::clock::duration period);
  explicit out(detail::stream_core& core) : stream_end(core, true) {}

  /// Waits until that time, or until no receiver is left.
  void wait_for_end(detail::clock::time_point until) {
    detail::stream_core& s = core();
    // A stream never has that much room, so only its end or the time ends the wait.
    detail::wait_for(detail::user_of(s, owner_, true), s, false, &until, s.capacity + 1);
  }
  /// Makes an attempt without success a poll: other objects run first, and an abort takes effect.
  send_result polled(send_result found) {
    if (found != send_result::sent) detail::count_message(detail::user_of(core(), owner_, true));
    return found;
  }
  /// Sends the elements at consecutive addresses.
  template <bool copies, class Element> void send_elements(Element* next, std::uint64_t count) {
    using passed = std::conditional_t<copies, Element&, Element&&>;
    detail::stream_core& s = core();
    detail::object_core& me = detail::user_of(s, owner_, true);
    if constexpr (can_travel<T>)
      if (s.in_records) {
        for (; count != 0; --count, ++next)
          if (put_in_record(me, s, *next, true, nullptr) == send_result::broken) s.throw_broken(owner_);
        return;
      }
    while (count != 0) {
      std::uint64_t sent = 0;
      {
        const detail::side_lock hold(s, true);
        if ((s.now() & detail::stream_core::broken) != 0) s.throw_broken(owner_);
        const std::uint64_t from = s.words->tail.load(std::memory_order_relaxed);
        const std::uint64_t most = std::min(s.room(from), count);
        detail::use_slots<std::is_nothrow_constructible_v<T, passed>>(
            s, detail::stream_core::senders_wait, [&] {
              struct publication {
                detail::stream_core& s;
                const std::uint64_t& from;
                std::uint64_t& sent;
                ~publication() {
                  if (sent != 0) s.publish(from + sent, sent);
                }
              } const at_end{s, from, sent};
              for (; sent < most; ++sent) construct(s, from + sent, static_cast<passed>(next[sent]));
            });
      }
      next += sent;
      count -= sent;
      if (sent != 0)
        detail::count_message(me,
                              static_cast<unsigned>(std::min<std::uint64_t>(sent, detail::island::slice)));
      else if (s.drops_oldest)
        s.drop_oldest(me);
      else
        detail::wait_for(me, s, false);
    }
  }
  /// Makes T(arguments…) in that slot.
  template <class... Arguments>
  [[gnu::always_inline]] static void construct(const detail::stream_core& s, std::uint64_t number,
                                               Arguments&&... arguments) {
    ::new (static_cast<void*>(s.slot_of<T>(number))) T(std::forward<Arguments>(arguments)...);
  }
  /// The same for a single message. If the constructor throws, the slot stays free for another sender.
  template <class... Arguments>
  [[gnu::always_inline]] static void construct_one(detail::stream_core& s, std::uint64_t number,
                                                   Arguments&&... arguments) {
    detail::use_slots<std::is_nothrow_constructible_v<T, Arguments...>>(
        s, detail::stream_core::senders_wait,
        [&] { construct(s, number, std::forward<Arguments>(arguments)...); });
  }
  /// Makes T(arguments…) in the stream. The arguments are used only if there is room.
  // Inlined, because a wait within an island is hardly longer than the calls around it, and the processor
  // mispredicts each return after a switch of stacks.
  template <class... Arguments>
  [[gnu::always_inline]] send_result put(bool waits, const detail::clock::time_point* until,
                                         Arguments&&... arguments) {
    detail::stream_core& s = core();
    detail::object_core& me = detail::user_of(s, owner_, true);
    return s.shared ? put_shared(me, s, waits, until, std::forward<Arguments>(arguments)...)
                    : put_in_island(me, s, waits, until, std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  [[gnu::noinline]] static send_result put_shared(detail::object_core& me, detail::stream_core& core,
                                                  bool waits, const detail::clock::time_point* until,
                                                  Arguments&&... arguments) {
    if constexpr (can_travel<T>)
      if (core.in_records) {
        if constexpr (sizeof...(Arguments) == 1 && (std::is_same_v<std::remove_cvref_t<Arguments>, T> && ...))
          return put_in_record(me, core, arguments..., waits, until);
        else
          return put_in_record(me, core, T(std::forward<Arguments>(arguments)...), waits, until);
      }
    for (;;) {
      {
        const detail::side_lock hold(core, true);
        if ((core.now() & detail::stream_core::broken) != 0) return send_result::broken;
        const std::uint64_t tail = core.words->tail.load(std::memory_order_relaxed);
        if (core.room(tail) != 0) {
          construct_one(core, tail, std::forward<Arguments>(arguments)...);
          core.publish(tail + 1, 1);
          break;
        }
      }
      if (core.drops_oldest)
        core.drop_oldest(me);
      else if (!waits || !detail::wait_for(me, core, false, until))
        return send_result::full;
    }
    detail::count_message(me);
    return send_result::sent;
  }
  template <class... Arguments>
  [[gnu::always_inline]] static send_result put_in_island(detail::object_core& me, detail::stream_core& core,
                                                          bool waits, const detail::clock::time_point* until,
                                                          Arguments&&... arguments) {
    for (;;) {
      if ((core.own_words.state.load(std::memory_order_relaxed) & detail::stream_core::broken) != 0)
        return send_result::broken;
      const std::uint64_t tail = core.own_words.tail.load(std::memory_order_relaxed);
      if (tail - core.own_words.head.load(std::memory_order_relaxed) < core.capacity) [[likely]] {
        construct_one(core, tail, std::forward<Arguments>(arguments)...);
        core.publish_in_island(tail + 1);
        detail::count_message(me);
        return send_result::sent;
      }
      if (core.drops_oldest) {
        core.drop_oldest(me);
        continue;
      }
      if (!waits || !detail::wait_for(me, core, false, until)) return send_result::full;
      if (core.shared) [[unlikely]]  // the island has been divided
        return put_shared(me, core, waits, until, std::forward<Arguments>(arguments)...);
    }
  }
  static send_result put_in_record(detail::object_core& me, detail::stream_core& s, const T& value,
                                   bool waits, const detail::clock::time_point* until)
    requires can_travel<T>
  {
    using detail::attempt;
    const attempt how = detail::put_in_record(me, s, value, waits, until);
    if (how == attempt::done) return send_result::sent;
    return how == attempt::not_now ? send_result::full : send_result::broken;
  }
};

/// @}
}  // namespace sukima::objects
