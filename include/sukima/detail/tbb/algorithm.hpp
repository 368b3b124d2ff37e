// SPDX-License-Identifier: Apache-2.0
// The common parts of TBB's algorithms: their last arguments, and the requirements on ranges.
#pragma once

#include <sukima/detail/tbb/arena.hpp>
#include <sukima/detail/tbb/partitioner.hpp>
#include <sukima/detail/tbb/task_group_context.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>

namespace sukima::detail::tbb {

template <class P>
concept partitioner = requires {
  { std::remove_cvref_t<P>::how } -> std::convertible_to<division>;
};
template <class C>
concept context_argument = std::same_as<C, ::tbb::task_group_context&>;

/// A partitioner, a task_group_context, both in this order, or nothing.
template <class... Options> inline constexpr bool are_options = false;
template <> inline constexpr bool are_options<> = true;
template <class A> inline constexpr bool are_options<A> = partitioner<A> || context_argument<A>;
template <class A, class B> inline constexpr bool are_options<A, B> = partitioner<A> && context_argument<B>;
template <class... Options>
concept algorithm_options = are_options<Options&&...>;

/// Calls f(partitioner, context) with the program's arguments, or with defaults for those that it left out.
template <class Default, class F> decltype(auto) with_options(F&& f) {
  const Default none{};
  ::tbb::task_group_context own;
  return f(none, own);
}
template <class Default, class F, class P>
  requires partitioner<P>
decltype(auto) with_options(F&& f, P& p) {
  ::tbb::task_group_context own;
  return f(p, own);
}
template <class Default, class F> decltype(auto) with_options(F&& f, ::tbb::task_group_context& of) {
  const Default none{};
  return f(none, of);
}
template <class Default, class F, class P>
decltype(auto) with_options(F&& f, P& p, ::tbb::task_group_context& of) {
  return f(p, of);
}

template <class T>
concept splittable = std::constructible_from<T, T&, ::tbb::split>;
template <class Range>
concept tbb_range = std::copy_constructible<Range> && splittable<Range> && requires(const Range& r) {
  { r.empty() } -> std::convertible_to<bool>;
  { r.is_divisible() } -> std::convertible_to<bool>;
};
template <class Body, class Range>
concept parallel_for_body = std::copy_constructible<Body> && std::invocable<const Body&, Range&>;
template <class Index>
concept parallel_for_index =
    std::constructible_from<Index, int> && std::copyable<Index> && requires(const Index& a, const Index& b) {
      { a < b } -> std::same_as<bool>;
      { a - b } -> std::convertible_to<std::size_t>;
      { a + (b - a) } -> std::convertible_to<Index>;
    };
template <class F, class Index>
concept parallel_for_function = std::invocable<const F&, Index>;

/// Runs the work of an algorithm on parts of a range, which the partitioner divides.
template <class Partitioner, class Range, class Work>
void divide_range(context c, const running_state& task, const Range& range, Work& work) {
  const arena& where = task.where != nullptr ? *task.where : default_arena();
  std::optional<Range> all;
  tbb::run_body(c, task, [&] { all.emplace(range); });
  if (!all) return;
  division_of<Range, Work>(task, Partitioner::how, static_cast<std::size_t>(where.concurrency()))
      .run(c, *all, work);
}

}  // namespace sukima::detail::tbb
