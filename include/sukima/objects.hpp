// SPDX-License-Identifier: Apache-2.0
// Concurrent objects: functions with ordinary blocking code that exchange messages over bounded streams.
#pragma once

#include <sukima/detail/required_cxx.hpp>  // first

#include <sukima/detail/containers.hpp>
#include <sukima/objects/ends.hpp>
#include <sukima/objects/select.hpp>
#include <sukima/objects/sleep.hpp>
#include <sukima/runtime.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace sukima::objects {

class program;

namespace detail {

template <class E>
concept stream_end_type = std::is_base_of_v<stream_end, std::remove_cvref_t<E>>;

/// Gives an object the ends among its arguments, also those in a container.
template <class A> void bind_ends(A& argument, object_core& owner) {
  if constexpr (stream_end_type<A>) {
    detail::bind_end(argument, owner);
  } else if constexpr (std::ranges::range<A>) {
    if constexpr (stream_end_type<std::ranges::range_value_t<A>>)
      for (auto& e : argument) detail::bind_end(e, owner);
  }
}

template <class F, class... Arguments> struct object_of final : object_core {
  std::optional<std::tuple<F, Arguments...>> parts;
  explicit object_of(F f, Arguments... arguments)
      : parts(std::in_place, std::move(f), std::move(arguments)...) {
    std::apply([this](F&, auto&... each) { (detail::bind_ends(each, *this), ...); }, *parts);
  }
  ~object_of() override { object_of::drop(); }
  void call(context c) override {
    std::apply(
        [c](F& f, auto&... each) {
          static_cast<void>(sukima::detail::call(c, std::move(f), std::move(each)...));
        },
        *parts);  // NOLINT(bugprone-unchecked-optional-access): not empty before drop()
  }
  void drop() noexcept override { parts.reset(); }
};

/// Makes, keeps and runs the objects and streams of a program (src/objects/program/program.cpp).
struct program_core;
struct program_deleter {
  void operator()(program_core* p) const noexcept;
};
/// \param argv that of main; null: objects cannot be processes
SUKIMA_EXCHANGES_CONTAINERS
std::unique_ptr<program_core, program_deleter> make_program(runtime& on, char** argv);
void add_stream(program_core& p, std::unique_ptr<stream_core> s);
object_core& add_object(program_core& p, std::string name, std::unique_ptr<object_core> o);
program_core& core_of(program& p) noexcept;

}  // namespace detail

/// \addtogroup objects
/// @{

/// The number of messages that a stream holds, rounded up to a power of two. The default is 64, or as many as
/// fit into 64 KiB, but at least 2. Between processes, a stream of messages with a codec holds fewer of them
/// if they are long (docs/objects.md).
struct capacity {
  std::size_t messages = 0;  ///< 0: the default
};

/// A stream of a program: a bounded queue of messages of one type, which keeps the order of each sender.
/// Objects use it through its ends. Each message goes to one receiver.
template <class T> class stream {
 public:
  /// Makes an end that sends, for one object. Must be called before program::run.
  /// \throws usage_error after program::run has begun
  /// \par Complexity constant
  objects::out<T> out() const { return objects::out<T>(*core_); }
  /// Makes an end that receives, for one object. Must be called before program::run.
  /// \throws usage_error after program::run has begun
  /// \par Complexity constant
  objects::in<T> in() const { return objects::in<T>(*core_); }

 private:
  friend class program;
  explicit stream(detail::stream_core& core) noexcept : core_(&core) {}
  detail::stream_core* core_;
};

/// Options of an object that was declared with program::object.
class object_options {
 public:
  /// Puts the object into a group. Objects of a group take turns, one at a time, and their streams need no
  /// locks. Objects without a group that streams connect begin together in the same way, but are moved to
  /// idle workers if they compute much (docs/objects.md).
  object_options& group(std::string_view name) {
    of_->group = std::string(name);
    return *this;
  }
  /// Sets the size of the object's C stack, in bytes. Up to 16 KiB (the default) an object costs 8 KiB, but
  /// each of its forks takes the slow path of the poll. With more it gets one of the runtime's ordinary
  /// stacks, on which forks are cheap. An object whose messages have more than 1 KiB also gets an ordinary
  /// stack, unless this function sets a smaller size, or more than 4,096 objects of the program would get
  /// one.
  object_options& stack(std::size_t bytes) {
    of_->stack = bytes;
    return *this;
  }
  /// If objects are processes, makes this one run with its whole group in the process that called
  /// program::run. Use it for objects that write into variables of the caller: objects of other processes
  /// change copies.
  object_options& at_home() {
    of_->at_home = true;
    return *this;
  }

 private:
  friend class program;
  explicit object_options(detail::object_core& of) noexcept : of_(&of) {}
  detail::object_core* of_;
};

/// Objects and the streams between them. Declare all of them, then run the program once. Source: groups and
/// the execution models are from Aoyagi, Nakabayashi, Iwata, Uehara and Mori (docs/objects-planning.md).
class program {
 public:
  /// A program of the default runtime.
  program() : program(default_runtime()) {}
  /// A program of another runtime, which must live longer.
  explicit program(runtime& on) : core_(detail::make_program(on, nullptr)) {}
  /// A program whose objects can be processes. Each process is this program, started again with the same
  /// arguments: it runs main up to `run`, which declares the same objects and streams, then runs its objects
  /// and ends. So this must be the first statement of main, and the declarations must not depend on time,
  /// input or environment. Code of main before `run` runs in each process; is_child() returns whether it runs
  /// in one of the started processes.
  /// \param argv must exist as long as the program
  program(int, char** argv) : program(0, argv, default_runtime()) {}
  /// The same with another runtime, which must live longer.
  program(int, char** argv, runtime& on) : core_(detail::make_program(on, argv)) {}

  /// Selects the execution model by a name that SUKIMA_OBJECTS accepts, and overrides that variable. For
  /// libraries whose objects must always run in the same way. Must be called before `run`, which checks the
  /// name.
  void model(std::string_view name);

  /// Declares a stream.
  /// \param name must differ from the names of all other streams; an object may have the same name
  /// \param room      number of messages that it holds
  /// \param when_full how a full stream treats another message
  /// \tparam T is moved from the sender to the receiver; it need not be copyable
  /// \throws std::system_error if there is no memory for so many messages; usage_error if there are more than
  ///         2^32, or the program has run
  /// \par Complexity constant time; memory for as many messages as the stream holds
  template <class T> objects::stream<T> stream(std::string name, capacity room = {},
                                               overflow when_full = overflow::wait) {
    static_assert(std::is_object_v<T> && std::is_move_constructible_v<T>);
    std::size_t n = room.messages != 0 ? room.messages : std::clamp<std::size_t>(65536 / sizeof(T), 2, 64);
    if (n > (std::size_t{1} << 32))
      throw usage_error("sukima: the stream " + name + " was declared with room for " + std::to_string(n) +
                        " messages; at most 4294967296 are possible, so declare it with a smaller capacity");
    n = room.messages != 0 ? std::bit_ceil(n) : std::bit_floor(n);
    auto core = std::make_unique<detail::stream_core>(std::move(name), n, sizeof(T), alignof(T));
    core->destroy = [](void* message) noexcept { std::destroy_at(static_cast<T*>(message)); };
    core->type = typeid(T).name();
    core->drops_oldest = when_full == overflow::drop_oldest;
    using journey = detail::stream_core::journey;
    core->to_processes = has_codec<T> ? journey::encoded : can_be_copied<T> ? journey::copied : journey::none;
    detail::stream_core& made = *core;
    detail::add_stream(*core_, std::move(core));
    return objects::stream<T>(made);
  }
  /// Declares a stream from a timer, which sends a tick at the end of each period. If the receiver has not
  /// taken the previous tick, that tick stays and the new one is dropped. The timer is an object of this
  /// name. It ends when no receiver is left, and at `stop`. A period of more than a century counts as a
  /// century.
  /// \throws usage_error if the period is not above 0; as `stream` and `object`
  template <class Rep, class Period> objects::stream<tick> timer(std::string name,
                                                                 std::chrono::duration<Rep, Period> period) {
    const bool is_positive = period > period.zero();  // not-a-number is not
    if (!is_positive) throw usage_error("sukima: the period of the timer " + name + " is not above 0");
    const objects::stream<tick> made = stream<tick>(name, capacity{1});
    object(std::move(name), detail::run_timer, made.out(), detail::at_most_a_century(period)).of_->is_timer =
        true;
    return made;
  }
  /// Declares an object: f(arguments…) runs concurrently with the other objects. f may take a context before
  /// the arguments. The ends among the arguments (or in containers there) belong to the object; ends that f
  /// has captured belong to the object that uses them first.
  /// \param name must differ from the names of all other objects
  /// \param f, arguments  are copied or moved, and destroyed when the object ends
  /// \returns options that can be set before `run`
  /// \throws usage_error after `run`, or if an end already belongs to an object; what copying f and the
  ///         arguments throws
  /// \par Complexity linear in the number of its ends; its stack is made by `run`
  template <class F, class... Arguments>
  object_options object(std::string name, F&& f, Arguments&&... arguments) {
    constexpr bool is_variadic = sukima::detail::takes_only_a_pack<std::decay_t<F>>;
    static_assert(
        !is_variadic,
        "sukima: a function of an object may not take (auto...) alone, because nothing says whether it "
        "takes a context; name its parameters, or write (sukima::context, auto...)");
    constexpr bool is_callable =
        is_variadic || sukima::detail::callable_with<std::decay_t<F>, std::decay_t<Arguments>...>;
    static_assert(is_callable,
                  "sukima: the function of an object cannot be called with these arguments, which are moved "
                  "into the call; take ends by value, as in<T> or out<T>");
    if constexpr (!is_variadic && is_callable) {
      using type = detail::object_of<std::decay_t<F>, std::decay_t<Arguments>...>;
      return object_options(detail::add_object(
          *core_, std::move(name),
          std::make_unique<type>(std::forward<F>(f), std::forward<Arguments>(arguments)...)));
    } else {
      __builtin_unreachable();
    }
  }

  /// Runs the objects until all have ended, by the execution model that SUKIMA_OBJECTS names:
  /// `workers:simulated` (the default), `simulated`, `threads:simulated`, `threads`, `processes`,
  /// `processes:simulated` or `processes:threads`. The last three may have `:pipe` behind them: then messages
  /// between processes go through pipes, for comparison. The variable may also name a plan file that `sukima
  /// objects plan` has written for this program and machine. In a child process `run` does not return.
  /// \returns 0
  /// \throws the exception of the first object that ended by one, or object_failed if that was in another
  ///         process; deadlock; usage_error: a second run, no objects, a stream without a sender or a
  ///         receiver, two objects or two streams with one name; with processes also: no argc and argv, a
  ///         message that cannot travel, an end that is not an argument of an object, a child that declares
  ///         something else; bad_setting: another word in SUKIMA_OBJECTS, or a plan for another program or
  ///         machine; std::system_error: no processes or no memory
  /// \par Complexity linear in the number of objects, streams and ends, besides the work of the objects.
  /// Objects of a group take turns of at most 64 messages, or about 1 ms (docs/objects.md)
  int run();
  /// Asks the program to stop: objects that check out::stop_requested end, and all messages sent before are
  /// still received. Any thread.
  void stop() noexcept;
  /// Whether `stop` was called. Any thread.
  bool stop_requested() const noexcept;
  /// Whether this process was started to run objects of the program. In such a process `run` does not return.
  bool is_child() const noexcept;
  /// Aborts the program: every object leaves by the exception `aborted` at its next wait or poll, and an
  /// object that has not begun never begins. Any thread, also before `run`.
  void abort() noexcept;

 private:
  friend detail::program_core& detail::core_of(program& p) noexcept;
  std::unique_ptr<detail::program_core, detail::program_deleter> core_;
};

/// @}
}  // namespace sukima::objects
