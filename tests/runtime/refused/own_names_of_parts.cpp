// SPDX-License-Identifier: Apache-2.0
// As own_names.cpp, for the parts with headers of their own: oneTBB's interface, the standard algorithms,
// objects and the cluster.
#include <sukima/cluster.hpp>
#include <sukima/objects.hpp>

#include <tbb/tbb.h>
#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <execution>
#include <functional>
#include <list>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace program {

struct item {
  int value = 0;
  friend auto operator<=>(const item&, const item&) = default;
};
struct plus_item {
  item operator()(item a, item b) const { return {a.value + b.value}; }
};
struct is_even {
  bool operator()(const item& x) const { return x.value % 2 == 0; }
};
struct hash_item {
  std::size_t operator()(const item& x) const { return static_cast<std::size_t>(x.value); }
};
/// A range of oneTBB that can be split in proportion.
struct whole_numbers {
  int first;
  int last;
  whole_numbers(int f, int l) : first(f), last(l) {}
  whole_numbers(whole_numbers& r, tbb::split) : first(r.first + (r.last - r.first) / 2), last(r.last) {
    r.last = first;
  }
  whole_numbers(whole_numbers& r, tbb::proportional_split&) : whole_numbers(r, tbb::split()) {}
  bool empty() const { return first == last; }
  bool is_divisible() const { return last - first > 1; }
};
struct sum_body {
  int sum = 0;
  sum_body() = default;
  sum_body(sum_body&, tbb::split) {}
  void operator()(const whole_numbers& r) { sum += r.last - r.first; }
  template <class Tag> void operator()(const whole_numbers& r, Tag) { sum += r.last - r.first; }
  void join(sum_body& right) { sum += right.sum; }
  void reverse_join(sum_body& left) { sum += left.sum; }
  void assign(sum_body& other) { sum = other.sum; }
};
struct nullary {
  void operator()() const {}
};
struct on_numbers {
  void operator()(const whole_numbers&) const {}
};
struct on_item {
  void operator()(const item&) const {}
};

void call_tbb(std::vector<item>& v, std::list<item>& all) {
  tbb::parallel_for(whole_numbers(0, 9), on_numbers{});
  tbb::parallel_for(whole_numbers(0, 9), on_numbers{}, tbb::static_partitioner());
  tbb::parallel_for(0, 9, 2, [](int) {});
  static_cast<void>(tbb::parallel_reduce(
      whole_numbers(0, 9), item{}, [](const whole_numbers&, item x) { return x; }, plus_item{}));
  sum_body sum;
  tbb::parallel_reduce(whole_numbers(0, 9), sum);
  tbb::parallel_deterministic_reduce(whole_numbers(0, 9), sum);
  tbb::parallel_scan(whole_numbers(0, 9), sum);
  static_cast<void>(tbb::parallel_scan(
      whole_numbers(0, 9), item{}, [](const whole_numbers&, item x, bool) { return x; }, plus_item{}));
  tbb::parallel_invoke(nullary{}, nullary{}, nullary{});
  tbb::parallel_for_each(v, on_item{});
  tbb::parallel_for_each(all.begin(), all.end(), [](item& x, tbb::feeder<item>& more) {
    if (x.value > 0) more.add(item{x.value - 1});
  });
  tbb::parallel_sort(v);
  tbb::parallel_sort(v.begin(), v.end(), std::less{});
  tbb::parallel_pipeline(2,
                         tbb::make_filter<void, item>(tbb::filter_mode::serial_in_order,
                                                      [](tbb::flow_control& end) {
                                                        end.stop();
                                                        return item{};
                                                      }),
                         tbb::make_filter<item, void>(tbb::filter_mode::parallel, [](item) {}));
  tbb::task_group group;
  group.run(nullary{});
  group.run_and_wait(nullary{});
  static_cast<void>(group.run_and_wait(group.defer(nullary{})));
  tbb::task_arena arena;
  arena.execute(nullary{});
  arena.enqueue(nullary{});
  tbb::this_task_arena::isolate(nullary{});
}

void call_tbb_containers(std::vector<item>& v) {
  tbb::concurrent_unordered_map<item, item, hash_item> map;
  map.insert({item{1}, item{2}});
  map[item{3}] = item{4};
  static_cast<void>(map.find(item{1}) == map.end() || map == map);
  tbb::concurrent_unordered_multiset<item, hash_item> bag(v.begin(), v.end());
  static_cast<void>(bag.count(item{1}) + bag.unsafe_erase(item{1}));
  tbb::concurrent_map<item, item> ordered{{item{1}, item{2}}};
  static_cast<void>(ordered.lower_bound(item{1}) == ordered.end() || ordered == ordered);
  static_cast<void>(ordered.unsafe_erase(item{1}));
  tbb::concurrent_multiset<item> sorted(v.begin(), v.end());
  static_cast<void>(sorted.contains(item{1}));
  tbb::concurrent_hash_map<item, item, tbb::tbb_hash_compare<int>>* none = nullptr;
  static_cast<void>(none);
  tbb::concurrent_queue<item> queue;
  queue.push(item{});
  tbb::concurrent_bounded_queue<item> bounded;
  bounded.push(item{});
  tbb::concurrent_priority_queue<item> best;
  best.push(item{});
  tbb::concurrent_vector<item> grown(v.begin(), v.end());
  grown.push_back(item{});
  tbb::enumerable_thread_specific<item> each;
  each.local() = item{};
  static_cast<void>(each.combine(plus_item{}));
  tbb::combinable<item> sums;
  static_cast<void>(sums.combine(plus_item{}));
}

void call_standard_algorithms(std::vector<item>& v) {
  const auto par = std::execution::par;
  std::vector<item> out(v.size());
  std::for_each(par, v.begin(), v.end(), on_item{});
  std::sort(par, v.begin(), v.end(), std::less{});
  std::stable_sort(par, v.begin(), v.end());
  std::partial_sort(par, v.begin(), v.begin() + 3, v.end());
  static_cast<void>(std::reduce(par, v.begin(), v.end(), item{}, plus_item{}));
  static_cast<void>(std::transform_reduce(par, v.begin(), v.end(), item{}, plus_item{}, std::identity{}));
  std::inclusive_scan(par, v.begin(), v.end(), out.begin(), plus_item{});
  std::exclusive_scan(par, v.begin(), v.end(), out.begin(), item{}, plus_item{});
  std::copy_if(par, v.begin(), v.end(), out.begin(), is_even{});
  static_cast<void>(std::unique(par, v.begin(), v.end()));
  std::merge(par, v.begin(), v.begin() + 4, v.begin() + 4, v.end(), out.begin());
  static_cast<void>(std::min_element(par, v.begin(), v.end()));
  static_cast<void>(std::find_if(par, v.begin(), v.end(), is_even{}));
}

void send_item(sukima::objects::out<item> to) { to.send({1}); }
void receive_item(sukima::objects::in<item> from) {
  for (const item& x : from) static_cast<void>(x);
}
struct relay {
  void operator()(sukima::objects::in<item> from, std::vector<sukima::objects::out<item>> to, item) const {
    while (auto x = from.receive()) to.front().send(std::move(*x));
    to.front().send_all(std::vector<item>(3));
  }
};

void call_objects(sukima::objects::program& p) {
  const auto first = p.stream<item>("first");
  const auto second = p.stream<item>("second", sukima::objects::capacity{4});
  std::vector<sukima::objects::out<item>> to;
  to.push_back(second.out());
  p.object("send", send_item, first.out());
  p.object("relay", relay{}, first.in(), std::move(to), item{});
  p.object("receive", receive_item, second.in());
  p.run();
}

item travelling_item(sukima::context, item x) { return x; }
item item_plus(sukima::context, item x, int i) { return {x.value + i}; }
void drop_item(sukima::context, item) {}
std::optional<item> front_of_items(sukima::context, std::array<item, 2> all) { return all.front(); }
struct failure {
  item cause;
};
struct board {
  int placed = 0;
};

void call_cluster(sukima::context c) {
  static_cast<void>(sukima::cluster::run(sukima::call<travelling_item>(item{})));
  sukima::cluster::run(sukima::call<drop_item>(item{}));
  static_cast<void>(sukima::cluster::run(sukima::call<front_of_items>(std::array<item, 2>())));
  static_cast<void>(sukima::fork(c, sukima::call<travelling_item>(item{}),
                                 sukima::call<travelling_item>(item{}),
                                 sukima::call<travelling_item>(item{})));
  static_cast<void>(sukima::parallel_reduce(c, 0, 9, item{}, sukima::call<item_plus>(item{}), plus_item{}));
  board b;
  static_cast<void>(sukima::search(
      c, b, sukima::set_bits(5u), [](board& w, unsigned) { ++w.placed; },
      [](board& w, unsigned) { --w.placed; }, [](board&, unsigned) { return item{}; }, item{}, plus_item{}));
}

}  // namespace program

SUKIMA_EXCEPTION(program::failure);

int main(int argc, char** argv) {
  std::vector<program::item> v(9);
  std::list<program::item> all(9);
  program::call_tbb(v, all);
  program::call_tbb_containers(v);
  program::call_standard_algorithms(v);
  sukima::objects::program p(argc, argv);
  program::call_objects(p);
  sukima::run([](sukima::context c) { program::call_cluster(c); });
}
