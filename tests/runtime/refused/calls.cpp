// SPDX-License-Identifier: Apache-2.0
// Calls in REFUSE(…) must not compile, each with a sentence that has the words after `refused:`; all others
// must (refused_test.py).
#include <sukima/calibrate.hpp>
#include <sukima/cancel.hpp>
#include <sukima/capacity.hpp>
#include <sukima/cluster.hpp>
#include <sukima/filter.hpp>
#include <sukima/fold.hpp>
#include <sukima/fork.hpp>
#include <sukima/future.hpp>
#include <sukima/loop.hpp>
#include <sukima/objects.hpp>
#include <sukima/scan.hpp>
#include <sukima/search.hpp>
#include <sukima/set_bits.hpp>
#include <sukima/sort.hpp>
#include <sukima/task_group.hpp>

#include <forward_list>
#include <functional>
#include <ranges>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "../bit_iterator.hpp"

#if defined(REFUSED)
#define REFUSE(...) __VA_ARGS__
#else
#define REFUSE(...)
#endif

namespace {

const auto nothing = [] {};
const auto number = [](auto) { return 1; };

void forks(sukima::context c) {
  sukima::fork2(nothing, nothing);
  sukima::fork2(c, nothing, nothing, sukima::guard(0.5));
  sukima::fork(c, nothing, nothing, nothing);
  REFUSE(sukima::fork2(nothing, nothing, nothing));  // refused: for more functions use sukima::fork
  REFUSE(sukima::fork2(c, nothing, nothing, [] {}));  // refused: for more functions use sukima::fork
  REFUSE(sukima::fork2(c, nothing, nothing, sukima::grain(3)));  // refused: at most one sukima::guard
  REFUSE(sukima::fork2(c, nothing, nothing, sukima::guard(1), sukima::guard(2)));  // refused: at most one
  sukima::fork(c, nothing, nothing, nothing, sukima::on(sukima::place{}));
  sukima::fork(nothing, nothing, sukima::on(sukima::place{}, sukima::place{}));
  REFUSE(sukima::fork(c, nothing, sukima::on(sukima::place{})));  // refused: after two or more of them one
  REFUSE(sukima::fork(c, nothing, sukima::on(sukima::place{}),
                      nothing));  // refused: sukima::fork takes functions
  REFUSE(sukima::fork(nothing, nothing, sukima::guard(0.5)));  // refused: other hints need sukima::fork2
  REFUSE(sukima::fork(c, nothing, 3));  // refused: sukima::fork takes functions
}

/// A callable that may be called once.
struct single_use {
  void operator()() && {}
};

/// Calls that have an effect only if their result is used.
void results(sukima::context c) {
  sukima::on(sukima::place{}, nothing);
  sukima::on(sukima::place{}, single_use{});
  sukima::on(c, sukima::place{}, single_use{});
  const auto hint = sukima::on(sukima::place{});
  const sukima::future f(c, nothing, hint);
  REFUSE(sukima::on(nothing));  // refused: sukima::on(place, f) calls f
  REFUSE(sukima::on(sukima::place{}));  // refused: sukima::on(place, f) calls f
  REFUSE(sukima::on(sukima::place{}, sukima::place{}));  // refused: sukima::on(place, f) calls f
  REFUSE(sukima::future<void>(c, nothing));  // refused: nodiscard
  REFUSE(sukima::future(c, nothing));  // refused: nodiscard
  REFUSE(sukima::launch(nothing));  // refused: nodiscard
}

/// Some members of the library's aggregates are named, and the compiler does not warn of the others.
void members() {
  static_cast<void>(sukima::settings{.workers = 2});
  static_cast<void>(sukima::settings{.stack = 1 << 20, .elastic = false});
  static_cast<void>(sukima::decision{.before = 1});
  static_cast<void>(sukima::calibration_plan{.all_pairs = true});
  static_cast<void>(sukima::capacity::options{.pid = 1});
  static_cast<void>(sukima::objects::capacity{.messages = 3});
  static_cast<void>(sukima::objects::tick{.number = 1});
  static_cast<void>(sukima::cluster::traffic{.given = 1});
}

void hints(sukima::context c, const std::vector<int>& v) {
  sukima::parallel_for(0, 9, number, sukima::grain(3));
  sukima::parallel_for(c, 0, 9, number, sukima::guard(1), sukima::grain(3));
  sukima::parallel_reduce(c, v, 0, number, std::plus{}, sukima::guard(1));
  REFUSE(sukima::parallel_for(0, 9, number, "nonsense"));  // refused: the last arguments of a sukima loop are
  REFUSE(
      sukima::parallel_for(c, 0L, 9L, number, 3));  // refused: the last arguments of a sukima loop are hints
  REFUSE(sukima::parallel_for(v, number, nothing));  // refused: the last arguments of a sukima loop are hints
  REFUSE(
      sukima::parallel_reduce(c, 0, 9, 0, number, std::plus{}, 'x'));  // refused: of a sukima loop are hints
  REFUSE(sukima::parallel_for(c, v, number, sukima::grain(1),
                              sukima::grain(2)));  // refused: sukima::grain, each at most once
  sukima::parallel_reduce(c, v, 0, number, std::plus{}, sukima::on(sukima::place{}), sukima::grain(2));
  [[maybe_unused]] const auto by_element = [](auto) { return sukima::place{}; };
  REFUSE(sukima::parallel_reduce(c, v, 0, number, std::plus{},
                                 sukima::on(by_element)));  // refused: a reduction keeps the order
  REFUSE(sukima::parallel_reduce(c, v, 0, number, std::plus{}, sukima::on(sukima::place{}),
                                 sukima::on(sukima::place{})));  // refused: sukima::parallel_reduce are hints
}

/// Hints that name no place. Each call has one error.
void places(sukima::context c, const std::vector<int>& v, const std::forward_list<int>& list) {
  const auto by_element = [](auto) { return sukima::place{}; };
  [[maybe_unused]] const auto middle = [](auto from, auto to) { return from + (to - from) / 2; };
  [[maybe_unused]] const auto names = [](int) { return std::string(); };
  sukima::parallel_for(v, number, sukima::on(by_element));
  sukima::parallel_for(c, list, number, sukima::on(sukima::place{}), sukima::split(middle));
  REFUSE(sukima::parallel_for(sukima::set_bits(5u), number,
                              sukima::on(by_element)));  // refused: over integers or over a random-access
  REFUSE(sukima::parallel_for(c, list, number, sukima::on(by_element)));  // refused: for other loops it takes
  REFUSE(sukima::parallel_for(
      sukima::blocked_range(0, 9), [](int, int) {},
      sukima::on(by_element)));  // refused: one place for all iterations
  REFUSE(sukima::parallel_for(v, number, sukima::on(by_element),
                              sukima::split(middle)));  // refused: sukima::split has no effect on a loop
  REFUSE(sukima::parallel_for(c, v, number, sukima::on(by_element),
                              sukima::on(by_element)));  // refused: sukima::parallel_for are hints
  REFUSE(sukima::parallel_for(v, number, sukima::on(names)));  // refused: element that returns one
  REFUSE(sukima::parallel_for(0, 9, number, sukima::on(3)));  // refused: element that returns one
  REFUSE(sukima::fork2(c, nothing, nothing, sukima::on(by_element)));  // refused: at a fork sukima::on takes
  REFUSE(const sukima::future one(c, nothing,
                                  sukima::on(by_element)));  // refused: at a future sukima::on takes
  REFUSE(const sukima::future two(nothing, sukima::on(3)));  // refused: at a future sukima::on takes
  REFUSE(sukima::task_group().run(nothing, sukima::on(by_element)));  // refused: at a task group sukima::on
  REFUSE(static_cast<void>(
      sukima::launch(nothing, sukima::on(by_element))));  // refused: at sukima::launch sukima::on takes
}

void bounds(sukima::context c, std::vector<int>& v) {
  sukima::parallel_for(0, 9, number);
  sukima::parallel_for(0, 9L, number);
  sukima::parallel_for(0u, v.size(), number);
  sukima::parallel_for(-5, static_cast<unsigned short>(5), number);
  sukima::parallel_for(std::int64_t{-5}, 5u, number);
  sukima::parallel_for('a', 'z', number);
  sukima::parallel_for(v.begin(), v.cend(), number);
  sukima::parallel_for(c, std::views::iota(0L, 9L), number);
  sukima::parallel_reduce(c, std::size_t{0}, v.size(), 0, number, std::plus{});
  sukima::parallel_for(std::views::iota(0) | std::views::take(9), number);
  REFUSE(
      sukima::parallel_for(std::views::iota(0), number));  // refused: of a sukima loop or search has no end
  __extension__ using wide = __int128;
  static_cast<void>(wide{});
  REFUSE(sukima::parallel_for(-5, 5u, number));  // refused: both signed or both unsigned
  REFUSE(sukima::parallel_for(c, 0, v.size(), number));  // refused: write std::size_t{0} instead of 0
  REFUSE(sukima::parallel_reduce(c, 0u, 9, 0, number, std::plus{}));  // refused: both signed or both unsigned
  REFUSE(sukima::parallel_for(wide{0}, wide{9}, number));  // refused: integers of at most 64 bits
  REFUSE(sukima::parallel_reduce(c, 0, wide{9}, 0, number,
                                 std::plus{}));  // refused: integers of at most 64 bits
}

void add(long& sum, int x) { sum += x; }
[[maybe_unused]] long added(long sum, int x) { return sum + x; }

/// Bodies that would add to a copy of their sum.
void folds(sukima::context c, const std::vector<int>& v) {
  sukima::parallel_fold(v, 0L, add, std::plus{});
  sukima::parallel_fold(c, v, 0L, [](long& sum, int x) { sum += x; }, std::plus{});
  sukima::parallel_fold(c, 0, 9, 0L, [](sukima::context, long& sum, int x) { sum += x; }, std::plus{});
  sukima::parallel_fold(v, 0L, [](auto& sum, auto x) { sum += x; }, std::plus{});
  sukima::parallel_fold(v, 0L, [](auto&& sum, auto x) { sum += x; }, std::plus{});
  REFUSE(sukima::parallel_fold(v, 0L, added, std::plus{}));  // refused: take the sum as T&
  REFUSE(sukima::parallel_fold(
      c, v, 0L, [](long sum, int x) { return sum + x; }, std::plus{}));  // refused: take the sum as T&
  REFUSE(sukima::parallel_fold(
      v, 0L, [](const long& sum, int x) { return sum + x; }, std::plus{}));  // refused: take the sum as T&
  REFUSE(sukima::parallel_fold(
      c, 0, 9, 0L, [](sukima::context, long sum, int x) mutable { return sum + x; },
      std::plus{}));  // refused: take the sum as T&
}

/// Reductions that cannot combine their results.
void reductions(sukima::context c, const std::vector<int>& v) {
  [[maybe_unused]] const auto text = [](int) { return std::string(); };
  const auto halves = [](int x) { return x / 2.0; };
  sukima::parallel_reduce(v, 0L, number, std::plus<long>{});
  sukima::parallel_reduce(c, 0, 9, 0.0, halves, [](double a, double b) { return a + b; });
  sukima::parallel_reduce(c, v, std::string(), [](int) { return "x"; }, std::plus<std::string>{});
  sukima::parallel_reduce(
      0, 9, std::string(), [](auto, int) { return "x"; }, [](std::string a, auto b) { return a + b; });
  REFUSE(
      sukima::parallel_reduce(v, 0, text, std::plus{}));  // refused: a value that combine takes as its second
  REFUSE(sukima::parallel_reduce(c, 0, 9, 0, text,
                                 std::plus{}));  // refused: a value that combine takes as its second
  REFUSE(sukima::parallel_reduce(
      c, v, 0, [](int) {}, std::plus{}));  // refused: that the type of init can be made from
  REFUSE(sukima::parallel_reduce(v, 0, number,
                                 [](int a) { return a; }));  // refused: combine also joins two results
  REFUSE(sukima::parallel_reduce(v, 0, number,
                                 [](int, int) {}));  // refused: gives what the type of init can be assigned
  // One type of body each, because a compiler says it once for each of them.
  REFUSE(sukima::parallel_reduce(0, 9, 0, number));  // refused: a function that combines two results after
  REFUSE(sukima::parallel_reduce(c, 0, 9, 0, std::logical_not{}));  // refused: that combines two results
  REFUSE(sukima::parallel_reduce(v, 0, std::negate{}));  // refused: a function that combines two results
  REFUSE(sukima::parallel_reduce(c, v, 0, std::identity{}));  // refused: that combines two results
}

/// Appends to a list.
struct appended {
  std::vector<int> operator()(std::vector<int> list, int x) const {
    list.push_back(x);
    return list;
  }
  std::vector<int> operator()(std::vector<int> list, const std::vector<int>& more) const {
    list.insert(list.end(), more.begin(), more.end());
    return list;
  }
};
/// Sums that are containers, which a number does not make: it would be their size.
void containers(sukima::context c, const std::vector<int>& v, std::vector<std::vector<int>>& out) {
  using list = std::vector<int>;
  const std::vector<list> lists;
  sukima::parallel_reduce(c, v, list{}, [](int x) { return list{x}; }, appended{});
  sukima::parallel_scan(lists, out.begin(), appended{});
  const std::vector<std::string_view> words;
  std::vector<std::string> texts;
  const auto join = [](std::string a, std::string_view b) { return a.append(b); };
  sukima::parallel_reduce(c, words, std::string(), std::identity{}, join);
  sukima::parallel_scan(c, words, texts.begin(), join, std::string());
  REFUSE(
      sukima::parallel_reduce(c, v, list{}, number, appended{}));  // refused: whose size it would be; combine
  REFUSE(
      sukima::parallel_scan(c, v, out.begin(), appended{}, list{}));  // refused: from which a sum can be made
}

/// Scans with other arguments than those that a scan takes.
void scans(sukima::context c, const std::vector<int>& v, std::vector<int>& out) {
  std::vector<bool> flags(v.size());
  const auto at = out.begin();
  sukima::parallel_scan(v, at);
  sukima::parallel_scan(c, v.begin(), v.end(), at);
  sukima::parallel_scan(c, v, out.begin(), std::plus<int>{}, 1L);
  sukima::parallel_scan(v.begin(), v.end(), at, std::plus{}, 1L);
  sukima::parallel_exclusive_scan(c, v, at, 0);
  sukima::parallel_exclusive_scan(v.begin(), v.end(), out.data(), 0, std::plus{});
  sukima::parallel_scan(sukima::parallel_context{c}, flags, at, [](bool a, bool b) { return a != b; });
  REFUSE(sukima::parallel_scan(v, 5));  // refused: a random-access iterator to write to
  REFUSE(sukima::parallel_scan(c, v, out));  // refused: a random-access iterator to write to
  REFUSE(sukima::parallel_scan(flags, flags.begin(), std::plus{}));  // refused: cannot be a std::vector<bool>
  REFUSE(sukima::parallel_scan(c, v, sukima::bit_iterator{}));  // refused: cannot be a std::vector<bool>
  REFUSE(sukima::parallel_exclusive_scan(v, sukima::bit_iterator{}, 0));  // refused: cannot be a std::vector
  REFUSE(sukima::parallel_scan(c, v.begin(), v.end(), at,
                               number));  // refused: an operation that gives a sum for two
  REFUSE(sukima::parallel_exclusive_scan(v, at));  // refused: takes the first sum, before the operation
  REFUSE(sukima::parallel_exclusive_scan(c, v.begin(), v.end(), at));  // refused: takes the first sum
}

/// Whether the algorithms that move elements take a sequence.
template <class I>
concept rearranged = requires(sukima::context c, I at) { sukima::parallel_sort(c, at, at); } ||
                     requires(sukima::context c, I at) { sukima::parallel_stable_sort(c, at, at); } ||
                     requires(sukima::context c, I at) { sukima::parallel_nth_element(c, at, at, at); } ||
                     requires(sukima::context c, I at, bool (*accepts)(bool)) {
                       sukima::parallel_partition(c, at, at, accepts);
                     } ||
                     requires(sukima::context c, I at, bool (*accepts)(bool)) {
                       sukima::parallel_remove_if(c, at, at, accepts);
                     } || requires(sukima::context c, I at) { sukima::parallel_unique(c, at, at); } ||
                     requires(sukima::context c, const bool* from, I at, bool (*accepts)(bool)) {
                       sukima::parallel_filter(c, from, from, at, accepts);
                     };
static_assert(rearranged<bool*> && !rearranged<sukima::bit_iterator>,
              "workers write different elements at the same time, which bits of one word do not allow");
static_assert(sukima::detail::shares_words<std::tuple<int, bool>, std::tuple<int&, sukima::bit>>,
              "a zipped sequence of bits is refused, too");

void searches(sukima::context c, std::vector<int>& v, std::string& workspace) {
  const auto step = [](std::string&, int) {};
  const auto body = [](std::string&, int) { return 1; };
  sukima::search(c, workspace, v, step, step, body, std::plus{});
  sukima::search(c, workspace, v, step, step, body, 0, std::plus{}, sukima::guard(1));
  REFUSE(sukima::search(c, workspace, v, step, step, body, 0, std::plus{},
                        5));  // refused: sukima::search are hints
  REFUSE(sukima::search(c, workspace, v, step, step, body, 1, std::plus{},
                        sukima::grain(5)));  // refused: sukima::guard and sukima::split, each at most once
  const std::forward_list<int> list(v.begin(), v.end());
  [[maybe_unused]] auto even = list | std::views::filter([](int x) { return x % 2 == 0; });
  sukima::search(c, workspace, list, step, step, body, std::plus{});
  sukima::search(c, workspace, sukima::set_bits(5u), step, step, body, std::plus{});
  REFUSE(sukima::search(c, workspace, even, step, step, body,
                        std::plus{}));  // refused: iterators are one trivially copyable word each
  REFUSE(sukima::set_bits(v.front()));  // refused: an unsigned integer of at most 64 bits: convert the mask
}

/// Searches whose functions do not fit each other. A compiler says a sentence once for each set of types.
void combinations(sukima::context c, std::vector<int>& v, std::string& workspace) {
  const auto step = [](std::string&, int) {};
  const auto body = [](std::string&, int) { return 1; };
  [[maybe_unused]] const auto by_element = [](auto) { return sukima::place{}; };
  sukima::search(c, workspace, v, step, step, body, 1L, std::plus<long>{});
  REFUSE(sukima::search(c, workspace, v, step, step, body, std::plus{},
                        0));  // refused: takes init, then combine
  REFUSE(
      sukima::search(workspace, v, step, step, body, std::plus{}, 0L));  // refused: takes init, then combine
  sukima::search(c, workspace, v, step, step, body, std::plus{}, sukima::guard(0.5));
  sukima::search(workspace, v, step, step, body, std::plus{},
                 sukima::split([](auto, auto end) { return end; }), sukima::guard([] { return 0.5; }));
  REFUSE(sukima::search(
      c, workspace, v, step, step, [](std::string&, int) { return 2; },
      sukima::guard(0.5)));  // refused: needs a function that combines two results after the body
  REFUSE(sukima::search(c, workspace, v, step, step, body, std::plus{}, sukima::guard(0.5),
                        sukima::guard(0.5)));  // refused: sukima::guard and sukima::split, each at most once
  REFUSE(sukima::search(c, workspace, v, step, step, body, std::plus{},
                        sukima::on(by_element)));  // refused: takes init, then combine, then hints
  REFUSE(sukima::search(c, workspace, v, step, step, body, 0, std::plus{},
                        sukima::on(by_element)));  // refused: sukima::search are hints
  REFUSE(sukima::search(c, workspace, v, step, step, body, std::string(),
                        std::plus{}));  // refused: what a value of init's type can be made from
  REFUSE(sukima::search(c, workspace, v, step, step,
                        body));  // refused: that combines two results after the body
  REFUSE(sukima::search(workspace, v, step, step, nothing));  // refused: that combines two results after the
  REFUSE(sukima::search(
      c, workspace, v, step, step, [](std::string&, int) {},
      std::plus{}));  // refused: write the first result between body and combine
  REFUSE(sukima::search(
      c, workspace, v, [](int) {}, step, body, std::plus{}));  // refused: undo(workspace, choice): let both
  REFUSE(sukima::search(
      workspace, v, step, [](std::string&) {}, body, 1L,
      std::plus{}));  // refused: undo(workspace, choice): let
  REFUSE(sukima::search(
      c, workspace, v, step, step, [](int) { return 1; }, 0,
      std::plus{}));  // refused: let the body take these
}

/// Scopes that nothing could cancel.
void scopes(sukima::context c, const std::stop_token& token) {
  sukima::cancellable(c, [](sukima::canceller) {});
  sukima::cancellable([](sukima::context, const sukima::canceller&) { return 1; });
  sukima::cancellable(token, nothing);
  REFUSE(if (const auto done = sukima::cancellable(c, [](sukima::context) { return 1; })) static_cast<void>(
      *done));  // refused: let f take a sukima::canceller, or write
  REFUSE(sukima::cancellable([](sukima::context) {}));  // refused: let f take a sukima::canceller
  REFUSE(sukima::cancellable(c, [] { return 1; }));  // refused: before f
}

void append(std::string& workspace, int) { workspace += '.'; }
[[maybe_unused]] void append_to_copy(std::string workspace, int) { workspace += '.'; }
struct labelled : std::string {};

/// Steps of searches that would change a copy of the workspace.
void workspaces(sukima::context c, const std::vector<int>& v, std::string& workspace) {
  const auto remove = [](std::string& w, int) { w.pop_back(); };
  const auto length = [](std::string& w, int) { return w.size(); };
  const auto count = std::plus{};
  sukima::search(c, workspace, v, append, remove, length, count);
  sukima::search(
      workspace, v, [](auto& w, auto) { w += '.'; }, [](auto&& w, auto) { w.pop_back(); }, length, count);
  const auto reads = [](const std::string& w, int x) { return w.size() > static_cast<std::size_t>(x); };
  sukima::search(c, workspace, v, reads, [](const std::string&, int) {}, length, count);
  sukima::search(
      c, workspace, v, append, remove, [](sukima::context, std::string w, int) { return w.size(); },
      count);  // what a body leaves in its workspace is not read any more
  std::string* pointer = &workspace;
  sukima::search(
      c, pointer, v, [](std::string* w, int) { w->push_back('.'); },
      [](std::string* w, int) { w->pop_back(); }, [](std::string* w, int) { return w->size(); }, count);
  labelled derived;
  sukima::search(c, derived, v, append, remove, length, count);
  REFUSE(sukima::search(c, workspace, v, append_to_copy, remove, length,
                        count));  // refused: change a copy of it
  REFUSE(
      sukima::search(c, derived, v, append_to_copy, remove, length, count));  // refused: change a copy of it
  REFUSE(sukima::search(
      c, workspace, v, append, [](std::string w, int) { w.pop_back(); }, length,
      count));  // refused: take it as Workspace&
  REFUSE(sukima::search(
      workspace, v,
      [](std::string w, int) mutable {
        w += '.';
        return true;
      },
      remove, length, std::size_t{0}, count));  // refused: or as const Workspace& to read it
}

void send_one(sukima::objects::out<int> to) { to.send(1); }

void objects(sukima::objects::program& p, const sukima::objects::stream<int>& s) {
  p.object("named", [](auto to) { to.send(1); }, s.out());
  p.object("with a context", [](sukima::context, auto... to) { (to.send(1), ...); }, s.out());
  p.object("with any context", [](auto, auto... to) { (to.send(1), ...); }, s.out());
  p.object("bound", std::bind_front(send_one, s.out()));
  p.object("wrapped", std::function<void(sukima::objects::in<int>)>([](auto from) { from.receive(); }),
           s.in());
  REFUSE(p.object(
      "by value", [](auto... to) { (to.send(1), ...); }, s.out()));  // refused: may not take (auto...) alone
  REFUSE(p.object(
      "moved", [](auto&&... to) mutable { (to.send(1), ...); },
      s.out()));  // refused: name its parameters, or write (sukima::context, auto...)
  REFUSE(p.object(
      "by reference", [](sukima::objects::out<int>& to) { to.send(1); },
      s.out()));  // refused: take ends by value
  REFUSE(
      p.object("one argument more", send_one, s.out(), 1));  // refused: cannot be called with these arguments
}

}  // namespace

int main() {
  forks({});
  results({});
  members();
  std::vector<int> v;
  std::string workspace;
  hints({}, v);
  places({}, v, {});
  bounds({}, v);
  folds({}, v);
  reductions({}, v);
  std::vector<std::vector<int>> lists;
  containers({}, v, lists);
  scans({}, v, v);
  searches({}, v, workspace);
  workspaces({}, v, workspace);
  combinations({}, v, workspace);
  scopes({}, {});
  sukima::objects::program p;
  objects(p, p.stream<int>("s"));
}
