// SPDX-License-Identifier: Apache-2.0
// Bodies whose only parameters are `auto...`: they get no context.
#include "support.hpp"

#include <atomic>
#include <functional>
#include <vector>

namespace {

using sukima::context;
using sukima::detail::takes_context;
using sukima::detail::takes_only_a_pack;

class packs : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, packs, support::worker_counts(), support::name_of_count);

TEST_P(packs, get_elements_and_no_context) {
  std::atomic<long> sum{0};
  // A context cannot be added, so a test whether this body takes one would not compile.
  const auto add = [&](auto&&... x) { ((sum += x), ...); };
  const std::vector<int> v{1, 2, 3};
  runtime.run([&](context c) {
    sukima::parallel_for(c, 0, 10, add);
    sukima::parallel_for(v, add);
    sukima::parallel_for(c, sukima::set_bits(7u), add);
    sukima::parallel_for(c, sukima::range2d(2, 3), add);
    EXPECT_EQ(sukima::parallel_reduce(c, v, 0, [](auto... x) { return (x + ...); }, std::plus{}), 6);
    EXPECT_EQ(sukima::launch([](auto... x) { return sizeof...(x); }).take(), 0u);
  });
  EXPECT_EQ(sum, 45 + 6 + 7 + 9);
}

TEST_P(packs, that_are_constrained_get_what_they_accept) {
  const auto inner = [](context, int i) { return i; };
  const auto wrapper = [&](auto... x) -> decltype(inner(x...)) { return inner(x...); };
  EXPECT_EQ(runtime.run([&] { return sukima::parallel_reduce(0, 5, 0, wrapper, std::plus{}); }), 10);
}

// Which callables are meant.
constexpr auto only_pack = [](auto...) {};
constexpr auto with_first = [](auto, auto...) {};
constexpr auto single = [](auto) {};
constexpr auto changing_pack = [](auto&&...) mutable {};
struct final_pack final {
  void operator()(auto...) const {}
};
using plain_function = void (*)(int);
struct converted_to_function {
  operator plain_function() const { return nullptr; }  // NOLINT(google-explicit-constructor)
};
static_assert(takes_only_a_pack<decltype(only_pack)> && takes_only_a_pack<decltype(changing_pack)>);
static_assert(!takes_only_a_pack<decltype(single)> && !takes_only_a_pack<decltype(with_first)>);
static_assert(!takes_only_a_pack<std::plus<>> && !takes_only_a_pack<std::function<void(int)>> &&
              !takes_only_a_pack<final_pack> && !takes_only_a_pack<converted_to_function> &&
              !takes_only_a_pack<int> && !takes_only_a_pack<std::vector<int>> &&
              !takes_only_a_pack<plain_function>);
static_assert(takes_context<decltype(with_first)&, int> && !takes_context<decltype(only_pack)&, int> &&
              !takes_context<converted_to_function&, int>);

// The standard library's wrappers of such callables, which pass on all arguments.
TEST_P(packs, in_wrappers_get_elements_and_no_context) {
  const auto add = [](auto... x) { return (x + ... + 0); };
  const auto one_more = std::bind([](auto x) { return x + 1; }, std::placeholders::_1);
  const auto sum_of_two =
      std::bind([](auto x, auto y) { return x + y; }, std::placeholders::_1, std::placeholders::_2);
  const auto by_number =
      std::bind([](context, int x, int y) { return x + y; }, std::placeholders::_1, std::placeholders::_2, 1);
  const std::vector<int> v{1, 2, 3};
  runtime.run([&](context c) {
    auto [is_zero, three] = sukima::fork2(c, std::not_fn(add), std::bind_front(add, 1, 2));
    EXPECT_TRUE(is_zero);
    EXPECT_EQ(three, 3);
    EXPECT_EQ(sukima::parallel_reduce(c, v, 0, std::ref(add), std::plus{}), 6);
    EXPECT_EQ(sukima::parallel_reduce(c, v, 0, std::bind_front(std::not_fn(add)), std::plus{}), 0);
    EXPECT_EQ(sukima::parallel_reduce(c, v, 0, one_more, sum_of_two), 9);
    EXPECT_EQ(sukima::parallel_reduce(c, v, 0, by_number, sum_of_two), 9);
    const auto f = sukima::launch(std::bind([](auto x) { return 2 * x; }, 4));
    EXPECT_EQ(f.touch(c), 8);
  });
}

}  // namespace
