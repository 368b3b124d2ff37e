// SPDX-License-Identifier: Apache-2.0
// The two ends of a stream.
// Long: the ends look into the same ring, and each call has its own way of waiting.
#pragma once

#include <sukima/objects/core.hpp>
#include <sukima/objects/records.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sukima::objects {

template <class T> class in;
template <class T> class out;

namespace detail {

struct no_function {};
template <class T, class F, class Ended> struct receive_case;
template <class T, class F> struct room_case;

/// What both ends are: a right to use one side of a stream, which belongs to one object.
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
  stream_end(stream_core& core, bool out) noexcept : core_(&core), out_(out) {
    (out ? core.outs : core.ins).fetch_add(1);
  }
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

/// The end belongs to that object from now on.
void bind_end(stream_end& e, object_core& owner);

}  // namespace detail

/// \addtogroup objects
/// @{

/// What became of an attempt to send.
enum class send_result {
  sent,
  full,   ///< there was no room, up to the time given
  broken  ///< no receiver is left
};

/// The sending end of a stream. Belongs to one object, and closes when it is destroyed; the stream ends
/// for its receivers when all its sending ends are closed. Source: Lamport's ring buffer; several senders or
/// receivers that run at once exclude one another by a lock (sukima/objects/core.hpp).
template <class T> class out : public detail::stream_end {
 public:
  /// Sends a message; waits for room.
  /// \throws stream_broken no receiver is left; usage_error another object's end; what T's move throws
  /// \par Complexity constant
  void send(T value) {
    if (put(value, true, nullptr) == send_result::broken) core_->throw_broken(owner_);
  }
  /// The same without waiting. The message is moved from only if it was sent. \par Complexity constant
  send_result try_send(T& value) { return polled(put(value, false, nullptr)); }
  send_result try_send(T&& value) { return polled(put(value, false, nullptr)); }
  /// Waits for room for at most so long.
  /// \par Complexity constant; where it waits, logarithmic in the number of waits that have a time
  template <class Rep, class Period> send_result send_for(T& value,
                                                          std::chrono::duration<Rep, Period> longest) {
    const auto until = detail::end_of_wait(longest);
    return polled(put(value, true, &until));
  }
  /// Sends the elements of a range, moved from it if it is an rvalue; what fits at a time is published
  /// at once.
  /// \throws as send
  /// \par Complexity linear in the number of messages
  template <class R> void send_all(R&& messages) {
    detail::stream_core& s = core();
    detail::object_core& me = detail::user_of(s, owner_, true);
    auto next = std::begin(messages);
    const auto last = std::end(messages);
    // An input iterator may wait itself, as that of a receiving end: no lock is held meanwhile.
    if constexpr (!std::forward_iterator<decltype(next)>) {
      for (; next != last; ++next)
        if constexpr (std::is_lvalue_reference_v<R>)
          send(T(*next));
        else
          send(T(std::move(*next)));
      return;
    }
    if constexpr (can_travel<T>)
      if (s.in_records) {
        for (; next != last; ++next)
          if (put_in_record(me, s, *next, true, nullptr) == send_result::broken) s.throw_broken(owner_);
        return;
      }
    while (next != last) {
      std::uint64_t sent = 0;
      {
        const detail::side_lock hold(s, true);
        if ((s.now() & detail::stream_core::broken) != 0) s.throw_broken(owner_);
        const std::uint64_t from = s.words->tail.load(std::memory_order_relaxed);
        const std::uint64_t room = s.room(from);
        struct publication {
          detail::stream_core& s;
          const std::uint64_t& from;
          std::uint64_t& sent;
          ~publication() {
            if (sent != 0) s.publish(from + sent, sent);
          }
        } const at_end{s, from, sent};
        for (; next != last && sent < room; ++next, ++sent) {
          if constexpr (std::is_lvalue_reference_v<R>)
            ::new (static_cast<void*>(s.slot_of<T>(from + sent))) T(*next);
          else
            ::new (static_cast<void*>(s.slot_of<T>(from + sent))) T(std::move(*next));
        }
      }
      if (sent != 0)
        detail::count_message(me,
                              static_cast<unsigned>(std::min<std::uint64_t>(sent, detail::island::slice)));
      else
        detail::wait_for(me, s, false);
    }
  }
  /// Is a receiver left?
  bool is_broken() const { return (core().now() & detail::stream_core::broken) != 0; }
  /// Has somebody called program::stop()? Sources end then.
  bool stop_requested() const { return detail::stop_requested(core()); }
  /// Another sending end of the same stream, for another object. Before program::run.
  out share() const { return out(core()); }
  /// For select: sends the value and calls h() as soon as there is room. If another case is served the value
  /// stays what it was.
  template <class F> detail::room_case<T, F> on_room(T& value, F h);

 private:
  template <class> friend class stream;
  template <class, class> friend struct detail::room_case;
  explicit out(detail::stream_core& core) noexcept : stream_end(core, true) {}

  /// An attempt without success is a poll, too: others go first, and an abort is seen.
  send_result polled(send_result found) {
    if (found != send_result::sent) detail::count_message(detail::user_of(core(), owner_, true));
    return found;
  }
  // Inlined: a wait within an island is hardly longer than the calls around it, and each return after a
  // switch is one that the processor predicts wrongly.
  [[gnu::always_inline]] send_result put(T& value, bool waits, const detail::clock::time_point* until) {
    detail::stream_core& s = core();
    detail::object_core& me = detail::user_of(s, owner_, true);
    return s.shared ? put_shared(me, s, value, waits, until) : put_in_island(me, s, value, waits, until);
  }
  [[gnu::noinline]] static send_result put_shared(detail::object_core& me, detail::stream_core& s, T& value,
                                                  bool waits, const detail::clock::time_point* until) {
    if constexpr (can_travel<T>)
      if (s.in_records) return put_in_record(me, s, value, waits, until);
    for (;;) {
      {
        const detail::side_lock hold(s, true);
        if ((s.now() & detail::stream_core::broken) != 0) return send_result::broken;
        const std::uint64_t tail = s.words->tail.load(std::memory_order_relaxed);
        if (s.room(tail) != 0) {
          ::new (static_cast<void*>(s.slot_of<T>(tail))) T(std::move(value));
          s.publish(tail + 1, 1);
          break;
        }
      }
      if (!waits || !detail::wait_for(me, s, false, until)) return send_result::full;
    }
    detail::count_message(me);
    return send_result::sent;
  }
  [[gnu::always_inline]] static send_result put_in_island(detail::object_core& me, detail::stream_core& s,
                                                          T& value, bool waits,
                                                          const detail::clock::time_point* until) {
    for (;;) {
      if ((s.own_words.state.load(std::memory_order_relaxed) & detail::stream_core::broken) != 0)
        return send_result::broken;
      const std::uint64_t tail = s.own_words.tail.load(std::memory_order_relaxed);
      if (tail - s.own_words.head.load(std::memory_order_relaxed) < s.capacity) [[likely]] {
        ::new (static_cast<void*>(s.slot_of<T>(tail))) T(std::move(value));
        s.publish_in_island(tail + 1);
        detail::count_message(me);
        return send_result::sent;
      }
      if (!waits || !detail::wait_for(me, s, false, until)) return send_result::full;
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

/// The receiving end of a stream. Belongs to one object. When the last one is destroyed the stream is
/// broken for its senders. Source: see out.
template <class T> class in : public detail::stream_end {
 public:
  /// The next message; waits for it. Empty: the stream is closed and what was sent has been received.
  /// \throws stream_failed see there; usage_error another object's end; what T's move throws: the
  ///         message stays
  /// \par Complexity constant
  std::optional<T> receive() { return take(true, nullptr); }
  /// The same without waiting: empty, too, if there is no message now. \par Complexity constant
  std::optional<T> try_receive() {
    std::optional<T> found = take(false, nullptr);
    if (!found) poll();
    return found;
  }
  /// Waits for at most so long. \par Complexity as out::send_for
  template <class Rep, class Period> std::optional<T> receive_for(
      std::chrono::duration<Rep, Period> longest) {
    const auto until = detail::end_of_wait(longest);
    std::optional<T> found = take(true, &until);
    if (!found) poll();
    return found;
  }
  /// Waits for a message, then takes as many as there are and fit. \returns how many; 0: as receive
  /// when empty \par Complexity linear in the number of messages
  std::size_t receive_some(std::span<T> to) {
    detail::stream_core& s = core();
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
          if (taken == 0) throw;  // the next call says it
        }
        return taken;
      }
    while (!to.empty()) {
      const bool ended = (s.now() & detail::stream_core::closed) != 0;
      {
        const detail::side_lock hold(s, false);
        const std::uint64_t head = s.words->head.load(std::memory_order_relaxed);
        const std::uint64_t most = std::min<std::uint64_t>(s.messages(head), to.size());
        // Also where an assignment throws: what was taken before is destroyed already.
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
      }
      if (taken != 0) break;
      if (ended) {
        s.throw_if_failed();
        return 0;
      }
      detail::wait_for(me, s, true);
    }
    detail::count_message(me, static_cast<unsigned>(std::min<std::uint64_t>(taken, detail::island::slice)));
    return taken;
  }
  /// Is no sender left, and nothing to receive?
  bool is_closed() const {
    const detail::stream_core& s = core();
    return (s.now() & detail::stream_core::closed) != 0 && !s.has_message();
  }
  /// For select: calls f(message) as soon as there is one.
  template <class F> detail::receive_case<T, F, detail::no_function> on(F f);
  /// The same, and calls ended() once, when the stream is closed and all messages have been received: for
  /// an object that goes on with other streams.
  template <class F, class Ended> detail::receive_case<T, F, Ended> on(F f, Ended ended);

  /// Receives until the stream is closed.
  class iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    explicit iterator(in& from) : from_(&from) { ++*this; }
    // Not at the end, as with any iterator.
    T& operator*() const noexcept { return *message_; }  // NOLINT(bugprone-unchecked-optional-access)
    iterator& operator++() {
      if constexpr (std::is_move_assignable_v<T>) {
        message_ = from_->receive();
      } else {
        message_.reset();
        if (std::optional<T> next = from_->receive()) message_.emplace(*std::move(next));
      }
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const noexcept { return !message_.has_value(); }

   private:
    in* from_ = nullptr;
    mutable std::optional<T> message_;
  };
  iterator begin() { return iterator(*this); }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  template <class> friend class stream;
  template <class, class, class> friend struct detail::receive_case;
  explicit in(detail::stream_core& core) noexcept : stream_end(core, false) {}
  bool end_was_reported_ = false;  ///< by a select

  /// An attempt without success is a poll, too: others go first, and an abort is seen.
  void poll() { detail::count_message(detail::user_of(core(), owner_, false)); }
  // Inlined: see out::put. The optional is made where it is returned: g++ writes one that is made before, or
  // that another function returns, in parts and copies it as a whole, for which the processor waits longer
  // than for all the rest.
  [[gnu::always_inline]] std::optional<T> take(bool waits, const detail::clock::time_point* until) {
    detail::stream_core& s = core();
    detail::object_core& me = detail::user_of(s, owner_, false);
    if constexpr (std::is_nothrow_move_constructible_v<T>) {
      if (s.shared) {
        std::optional<T> taken;
        take_shared(taken, me, s, waits, until);
        if (!taken) return std::nullopt;
        return std::optional<T>(std::in_place, *std::move(taken));
      }
      if (!find_in_island(me, s, waits, until)) return std::nullopt;
      return std::optional<T>(std::in_place, move_from_slot(me, s));
    } else {
      std::optional<T> taken;
      if (s.shared)
        take_shared(taken, me, s, waits, until);
      else if (find_in_island(me, s, waits, until)) {
        taken.emplace(std::move(first_in_island(s)));  // if that throws the message stays
        drop_first_in_island(me, s);
      }
      return taken;
    }
  }
  [[gnu::always_inline]] static T& first_in_island(detail::stream_core& s) noexcept {
    return *std::launder(s.slot_of<T>(s.own_words.head.load(std::memory_order_relaxed)));
  }
  [[gnu::always_inline]] static void drop_first_in_island(detail::object_core& me, detail::stream_core& s) {
    std::destroy_at(&first_in_island(s));
    s.give_back_in_island(s.own_words.head.load(std::memory_order_relaxed) + 1);
    detail::count_message(me);
  }
  [[gnu::always_inline]] static T move_from_slot(detail::object_core& me, detail::stream_core& s) {
    T message(std::move(first_in_island(s)));
    drop_first_in_island(me, s);
    return message;
  }
  [[gnu::noinline]] static void take_shared(std::optional<T>& taken, detail::object_core& me,
                                            detail::stream_core& s, bool waits,
                                            const detail::clock::time_point* until) {
    if constexpr (can_travel<T>)
      if (s.in_records) {
        // T need not be assignable.
        if (std::optional<T> message = detail::take_from_record<T>(me, s, waits, until))
          taken.emplace(*std::move(message));
        return;
      }
    for (;;) {
      // Read before the look into the ring: what was sent before the stream closed is found.
      const bool ended = (s.now() & detail::stream_core::closed) != 0;
      {
        const detail::side_lock hold(s, false);
        const std::uint64_t head = s.words->head.load(std::memory_order_relaxed);
        if (s.messages(head) != 0) {
          T& message = *std::launder(s.slot_of<T>(head));
          taken.emplace(std::move(message));
          std::destroy_at(&message);
          s.give_back(head + 1, 1);
        }
      }
      if (taken) [[likely]]
        break;
      if (ended) {
        s.throw_if_failed();
        return;
      }
      if (!waits || !detail::wait_for(me, s, true, until)) return;
    }
    detail::count_message(me);
  }
  /// Is there a message? Waits for one, if it may.
  [[gnu::always_inline]] static bool find_in_island(detail::object_core& me, detail::stream_core& s,
                                                    bool waits, const detail::clock::time_point* until) {
    while (s.own_words.tail.load(std::memory_order_relaxed) ==
           s.own_words.head.load(std::memory_order_relaxed)) {
      if ((s.own_words.state.load(std::memory_order_relaxed) & detail::stream_core::closed) != 0) {
        s.throw_if_failed();
        return false;
      }
      if (!waits || !detail::wait_for(me, s, true, until)) return false;
    }
    return true;
  }
};

/// @}
}  // namespace sukima::objects
