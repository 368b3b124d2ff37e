// SPDX-License-Identifier: Apache-2.0
// Calls of all public functions with types of a namespace that has functions of the same names as the
// library's own ones (own_names_test.py). The library must never call these functions, which are deleted.
#include <sukima/execution.hpp>
#include <sukima/sukima.hpp>

#include <atomic>
#include <forward_list>
#include <list>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace program {

/// Has neither an address that `&` gives nor a comma.
struct item {
  int value = 0;
  item* operator&() const = delete;
  friend auto operator<=>(const item&, const item&) = default;
};
template <class Other> void operator,(const item&, Other&&) = delete;

struct plus_item {
  item operator()(item a, item b) const { return {a.value + b.value}; }
};
struct make_item {
  item operator()(int i) const { return {i}; }
};
struct is_even {
  bool operator()(const item& x) const { return x.value % 2 == 0; }
};
struct of_value {
  int operator()(const item& x) const { return x.value; }
};
struct board {
  int placed = 0;
};
struct is_likely {
  double operator()() const { return 0.5; }
};
struct in_any_place {
  sukima::place operator()() const { return {}; }
};
struct lines {
  int count;
  const item* begin() const { return nullptr; }
  const item* end() const { return nullptr; }
  std::optional<lines> split() {
    if (count < 2) return std::nullopt;
    count /= 2;
    return lines{count};
  }
};
struct branch {
  item operator()(sukima::context) const { return {1}; }
};
struct generic_task {
  item operator()(auto) const { return {1}; }
};
struct nullary {
  item operator()() const { return {1}; }
};

void call_forks(sukima::context c) {
  static_cast<void>(sukima::fork2(c, branch{}, branch{}));
  static_cast<void>(sukima::fork2(c, generic_task{}, generic_task{}));
  static_cast<void>(sukima::fork2(c, nullary{}, nullary{}, sukima::guard([] { return 0.5; })));
  static_cast<void>(sukima::fork2(branch{}, nullary{}, sukima::on([] { return sukima::place{}; })));
  static_cast<void>(
      sukima::fork2(branch{}, nullary{}, sukima::guard(is_likely{}), sukima::on(in_any_place{})));
  static_cast<void>(sukima::fork(c, branch{}, nullary{}, generic_task{}, sukima::on(sukima::place{})));
  static_cast<void>(sukima::fork(branch{}, nullary{}, generic_task{}));
  item left;
  item right;
  auto [a, b] = sukima::fork2(c, [&]() -> item& { return left; }, [&]() -> item& { return right; });
  a = b;
  static_cast<void>(sukima::on(c, sukima::place{}, branch{}));
  static_cast<void>(sukima::on(sukima::place{}, generic_task{}));
  static_cast<void>(sukima::blocking(c, nullary{}));
  static_cast<void>(sukima::thread_bound(nullary{}));
  static_cast<void>(sukima::shielded(c, branch{}));
  static_cast<void>(sukima::shielded(nullary{}));
}

void call_loops(sukima::context c, std::vector<item>& v, std::list<item>& all, std::map<int, item>& named) {
  const auto body = [](auto&&...) {};
  const auto with_context = [](sukima::context, auto&&...) {};
  const auto generic = [](auto, item&) {};
  sukima::parallel_for(c, 0, 9, body);
  sukima::parallel_for(0, 9, with_context, sukima::grain(2),
                       sukima::split([](auto a, auto b) { return (a + b) / 2; }));
  sukima::parallel_for(v, generic);
  sukima::parallel_for(c, v.begin(), v.end(), generic);
  sukima::parallel_for(v, body, sukima::on([](item&) { return sukima::place{}; }));
  sukima::parallel_for(c, all, with_context);
  sukima::parallel_for(named, body);
  sukima::parallel_for(std::forward_list<item>{}, body);
  sukima::parallel_for(sukima::blocked_range(v), body);
  sukima::parallel_for(c, sukima::range2d(2, 3), with_context);
  sukima::parallel_for(c, lines{9}, body);
  sukima::parallel_for(v | std::views::filter(is_even{}), generic);
  sukima::parallel_for(v | std::views::take_while(is_even{}), generic);
  sukima::parallel_for(v | std::views::transform(of_value{}), body);
  sukima::parallel_for(sukima::set_bits(5u), [](auto, int) { return item{}; });
  static_cast<void>(sukima::parallel_reduce(c, 0, 9, item{}, make_item{}, plus_item{}));
  static_cast<void>(sukima::parallel_reduce(0, 9, item{}, make_item{}, plus_item{}));
  static_cast<void>(sukima::parallel_reduce(all, item{}, std::identity{}, plus_item{}));
  sukima::parallel_for(0, 9, body, sukima::guard(is_likely{}), sukima::grain(2));
  static_cast<void>(
      sukima::parallel_reduce(v, item{}, [](auto, item& x) { return x; }, plus_item{}, sukima::guard(0.5)));
  static_cast<void>(sukima::parallel_reduce(v, 0, &item::value, std::plus{}));
  static_cast<void>(sukima::parallel_reduce(
      c, all, item{}, [](item& x) { return x; }, plus_item{}, sukima::on(sukima::place{})));
  static_cast<void>(sukima::parallel_reduce(lines{9}, item{}, [](const item& x) { return x; }, plus_item{}));
  static_cast<void>(
      sukima::parallel_fold(c, v, item{}, [](item& sum, item& x) { sum.value += x.value; }, plus_item{}));
  static_cast<void>(
      sukima::parallel_fold(0, 9, item{}, [](item& sum, int x) { sum.value += x; }, plus_item{}));
  static_cast<void>(sukima::parallel_fold(
      all, item{}, [](auto, item& sum, item& x) { sum.value += x.value; }, plus_item{}));
  static_cast<void>(sukima::parallel_fold(
      lines{9}, item{}, [](item& sum, const item& x) { sum.value += x.value; }, plus_item{}));
}

void call_algorithms(sukima::context c, std::vector<item>& v) {
  std::vector<item> out(v.size());
  sukima::parallel_scan(c, v, out.begin(), plus_item{});
  sukima::parallel_scan(v.begin(), v.end(), out.begin(), plus_item{}, item{});
  sukima::parallel_exclusive_scan(v, out.begin(), item{}, plus_item{});
  static_cast<void>(sukima::parallel_filter(c, v, is_even{}));
  static_cast<void>(sukima::parallel_filter(std::move(v), is_even{}));
  static_cast<void>(sukima::parallel_filter(v.begin(), v.end(), out.begin(), std::identity{}, is_even{}));
  static_cast<void>(sukima::parallel_partition(v, is_even{}));
  static_cast<void>(sukima::parallel_remove_if(c, v, is_even{}));
  static_cast<void>(sukima::parallel_unique(v, std::equal_to{}, of_value{}));
  sukima::parallel_sort(v);
  sukima::parallel_sort(c, v, std::less{}, of_value{});
  sukima::parallel_stable_sort(v.begin(), v.end(), std::greater{});
  sukima::parallel_nth_element(v, v.begin(), std::less{}, of_value{});
  sukima::parallel_nth_element(c, v.begin(), v.begin(), v.end());
}

void call_searches(sukima::context c, board b, std::vector<item>& v, std::forward_list<item>& few) {
  const auto place = [](board& w, auto&&) { return ++w.placed < 9; };
  const auto remove = [](board& w, auto&&) { --w.placed; };
  const auto deeper = [](board&, auto&& x) { return x; };
  static_cast<void>(sukima::search(c, b, v, place, remove, deeper, item{}, plus_item{}, sukima::guard(1)));
  static_cast<void>(sukima::search(b, few, place, remove, deeper, plus_item{}));
  static_cast<void>(sukima::search(c, b, v, place, remove, deeper, plus_item{}, sukima::guard(is_likely{})));
  static_cast<void>(
      sukima::search(b, v, place, remove, [](auto, board&, item&) { return item{}; }, item{}, plus_item{}));
  static_cast<void>(
      sukima::search_first<item>(c, [](sukima::first_solution<item>& found) { found.found({1}); }));
  static_cast<void>(sukima::search_first<item>([](sukima::context, sukima::first_solution<item>&) {}));
  sukima::best_solution<board, int> best(9);
  best.offer(3, b);
}

void call_scopes(sukima::context c, std::stop_token token) {
  using namespace std::chrono_literals;
  static_cast<void>(sukima::cancellable(c, [](sukima::canceller) { return item{}; }));
  static_cast<void>(sukima::cancellable([](sukima::context, sukima::canceller) {}));
  static_cast<void>(sukima::cancellable(c, token, branch{}));
  static_cast<void>(sukima::cancellable(token, nullary{}));
  static_cast<void>(sukima::cancellable(c, 1s, generic_task{}));
  static_cast<void>(sukima::cancellable(1s, branch{}));
  static_cast<void>(sukima::cancellable(std::chrono::system_clock::now(), branch{}));
  static_cast<void>(sukima::cancellable(c, token, 1s, branch{}));
  static_cast<void>(sukima::cancellable(token, std::chrono::steady_clock::now(), nullary{}));
  sukima::task_group group(c);
  group.run(branch{});
  group.run(c, nullary{});
  group.run(c, generic_task{}, sukima::on(sukima::place{}));
  group.wait(c);
  sukima::worker_local<item> each;
  each.local().value = 1;
  static_cast<void>(each.combine(plus_item{}));
}

void call_futures(sukima::context c) {
  sukima::future f(c, branch{});
  sukima::future g(c, generic_task{}, sukima::on(sukima::place{}));
  static_cast<void>(f.touch(c));
  static_cast<void>(g.take(c));
  sukima::run([] {
    sukima::future h(nullary{});
    static_cast<void>(h.touch());
  });
  const auto launched = sukima::launch(branch{});
  const auto placed = sukima::launch(nullary{}, sukima::on([] { return sukima::place{}; }));
  const auto next = launched.then([](sukima::context, item x) { return x; });
  const auto last = placed.then([](item x) { return x; }, sukima::on(sukima::place{}));
  sukima::when_all(next, last).touch(c);
  static_cast<void>(sukima::when_any(next, last).touch());
  sukima::promise<item> promise;
  promise.set_value(item{1});
  static_cast<void>(promise.get_future().touch(c));
  sukima::suspend(c, [](sukima::resumer r) { r.resume(); });
  sukima::suspend([](sukima::resumer r) { r.resume(); }, [](sukima::resumer) noexcept {});
}

sukima::execution::task<item> coroutine(sukima::execution::scheduler on) {
  co_await sukima::execution::schedule(on);
  co_return co_await sukima::execution::async(on, nullary{});
}
void call_senders() {
  namespace ex = sukima::execution;
  ex::pool pool;
  const auto on = pool.get_scheduler();
  static_cast<void>(ex::sync_wait(coroutine(on)));
  static_cast<void>(ex::sync_wait(ex::then(ex::schedule(on), nullary{})));
  static_cast<void>(ex::sync_wait(ex::then(ex::just(item{}), [](item x) { return x; })));
  static_cast<void>(ex::sync_wait(ex::ensure_started(ex::then(ex::schedule(on), [] { return item{}; }))));
  ex::counting_scope scope;
  scope.spawn(ex::then(ex::schedule(on), nullary{}));
  static_cast<void>(ex::sync_wait(scope.join()));
}

}  // namespace program

int main() {
  sukima::runtime runtime;
  std::vector<program::item> v(9);
  std::list<program::item> all(9);
  std::map<int, program::item> named{{1, {2}}};
  std::forward_list<program::item> few(9);
  static_cast<void>(runtime.run(program::branch{}));
  static_cast<void>(sukima::run(program::nullary{}));
  sukima::run([&](sukima::context c) {
    program::call_forks(c);
    program::call_loops(c, v, all, named);
    program::call_searches(c, {}, v, few);
    program::call_algorithms(c, v);
    program::call_scopes(c, {});
    program::call_futures(c);
  });
  program::call_senders();
}
