// SPDX-License-Identifier: Apache-2.0
// The parallel algorithms of libstdc++ (std::execution::par and par_unseq) on Sukima's workers.
//
// libstdc++ writes each parallel algorithm in terms of ten operations of a "parallel backend". It has two
// backends: one on TBB, and a sequential one. This header is a third one. It replaces libstdc++'s own choice,
// so it must be included before `<execution>`; the file `execution` beside this one does that.
//
// The names with two underscores are libstdc++'s. Its implementation calls each operation through them.
#pragma once

#include <version>
#if __cplusplus < 202002L
#error "sukima/pstl needs C++20: compile with -std=c++20 or later"
#elif !defined(__GLIBCXX__)
#error "sukima/pstl needs libstdc++, whose parallel backend it replaces"
#elif defined(_PSTL_PARALLEL_BACKEND_H)
#error "sukima/pstl must come before <execution>: put its folder first in the include path"
#endif
/// Keeps libstdc++ from including the header in which it chooses a backend.
#define _PSTL_PARALLEL_BACKEND_H  // NOLINT(bugprone-reserved-identifier)

#include <sukima/cancel.hpp>
#include <sukima/detail/pstl_scan.hpp>
#include <sukima/detail/pstl_sort.hpp>
#include <sukima/ranges.hpp>
#include <sukima/suspend.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
namespace sukima::detail::pstl {

/// Calls f(context): on the default runtime, or as part of the running code if the caller is a worker.
///
/// A parallel algorithm must return on the thread that called it, and libstdc++ ends the program if any
/// exception but std::bad_alloc leaves it. So f is bound to its thread and shielded from aborts, which take
/// effect after it.
template <class F> decltype(auto) run(F&& f) {
  return thread_bound(
      [&]() -> decltype(auto) { return shielded([&](context c) -> decltype(auto) { return f(c); }); });
}

/// Memory for `count` objects, which the user of the buffer constructs and destroys.
template <class T> class __buffer {
 public:
  /// \throws std::bad_alloc
  explicit __buffer(std::size_t count) : memory_(std::allocator<T>().allocate(count)), count_(count) {}
  __buffer(const __buffer&) = delete;
  __buffer& operator=(const __buffer&) = delete;
  ~__buffer() { std::allocator<T>().deallocate(memory_, count_); }
  explicit operator bool() const noexcept { return memory_ != nullptr; }
  T* get() const noexcept { return memory_; }

 private:
  T* memory_;
  std::size_t count_;
};

/// libstdc++ calls this when the remaining calls have no work left. The algorithms test a flag of their own
/// in each call, so blocks become long as soon as calls return at once, and nothing has to be cancelled.
inline void __cancel_execution() noexcept {}

/// Calls f(i, j) for consecutive blocks [i, j) of [first, last).
template <class Policy, class Index, class F>
void __parallel_for(Policy&& /*policy*/, Index first, Index last, F f) {
  pstl::run([&](context c) {
    sukima::parallel_for(
        c, sukima::blocked_range(std::ptrdiff_t{0}, static_cast<std::ptrdiff_t>(last - first)),
        [&](std::ptrdiff_t i, std::ptrdiff_t j) { f(pstl::at(first, i), pstl::at(first, j)); });
  });
}

/// Reduces blocks with block(i, j, identity), and combines their values in order. `identity` is passed to
/// `block` only: not all algorithms of libstdc++ can combine it with a value.
template <class Policy, class Value, class Index, class Block, class Combine>
Value __parallel_reduce(Policy&& /*policy*/, Index first, Index last, const Value& identity,
                        const Block& block, const Combine& combine) {
  using value = std::optional<Value>;
  value result = pstl::run([&](context c) {
    return sukima::parallel_reduce(
        c, sukima::blocked_range(std::ptrdiff_t{0}, static_cast<std::ptrdiff_t>(last - first)), value(),
        [&](std::ptrdiff_t i, std::ptrdiff_t j) {
          return value(block(pstl::at(first, i), pstl::at(first, j), identity));
        },
        [&](value a, value b) { return a ? value(combine(std::move(*a), std::move(*b))) : std::move(b); });
  });
  return result ? std::move(*result) : identity;
}

/// The sum of some consecutive elements. There is no neutral element, and a single element need not be
/// convertible to the sum's type, so a sum of one element is stored as the element's position.
template <class Index, class T> struct partial_sum {
  std::optional<T> value;
  Index only{};  ///< the position of the only element, if there is no value
};

/// Combines init and u(i) for all i in [first, last). \param block  block(i, j, sum) adds [i, j) to a sum
template <class Policy, class Index, class U, class T, class Combine, class Block>
T __parallel_transform_reduce(Policy&& /*policy*/, Index first, Index last, U u, T init, Combine combine,
                              Block block) {
  using sum = partial_sum<Index, T>;
  return pstl::run([&](context c) {
    sum all = sukima::parallel_reduce(
        c, sukima::blocked_range(std::ptrdiff_t{0}, static_cast<std::ptrdiff_t>(last - first)),
        sum{std::optional<T>(std::move(init))},
        [&](std::ptrdiff_t i, std::ptrdiff_t j) {
          const Index begin = pstl::at(first, i);
          if (j - i == 1) return sum{std::nullopt, begin};
          T two = combine(u(begin), u(pstl::at(first, i + 1)));
          if (j - i == 2) return sum{std::optional<T>(std::move(two))};
          return sum{std::optional<T>(block(pstl::at(first, i + 2), pstl::at(first, j), std::move(two)))};
        },
        [&](sum a, sum b) {
          if (a.value && b.value)
            return sum{std::optional<T>(combine(std::move(*a.value), std::move(*b.value)))};
          if (a.value) return sum{std::optional<T>(combine(std::move(*a.value), u(b.only)))};
          if (b.value) return sum{std::optional<T>(combine(u(a.only), std::move(*b.value)))};
          return sum{std::optional<T>(combine(u(a.only), u(b.only)))};
        });
    return std::move(*all.value);
  });
}

/// Sums tiles of [0, n) with reduce(i, length), calls apex(sum of all), then scan(i, length, sum before i)
/// for each tile. reduce and scan are called once for each tile, because they may have side effects.
template <class Policy, class Index, class T, class Reduce, class Combine, class Scan, class Apex>
void __parallel_strict_scan(Policy&& /*policy*/, Index n, T initial, Reduce reduce, Combine combine,
                            Scan scan, Apex apex) {
  pstl::run([&](context c) { pstl::strict_scan(c, n, std::move(initial), reduce, combine, scan, apex); });
}

/// Writes running totals: scan(i, j, sum) writes those of [i, j) and returns the sum at j; block(i, j, sum)
/// only adds.
/// \returns the sum of init and all elements
template <class Policy, class Index, class U, class T, class Combine, class Block, class Scan>
T __parallel_transform_scan(Policy&& /*policy*/, Index n, U u, T init, Combine combine, Block block,
                            Scan scan) {
  return pstl::run(
      [&](context c) { return pstl::transform_scan(c, n, u, std::move(init), combine, block, scan); });
}

/// Sorts; equal elements keep their order if `sort` keeps it.
/// \param wanted  how many of the least elements must be in order at the beginning; 0: all
template <class Policy, class I, class Compare, class Sort>
void __parallel_stable_sort(Policy&& /*policy*/, I first, I last, Compare compare, Sort sort,
                            std::size_t wanted = 0) {
  pstl::run([&](context c) { pstl::sort_blocks(c, first, last, compare, sort, wanted); });
}

/// Merges two sorted ranges; of equal elements those of the first range come first.
template <class Policy, class I, class J, class Out, class Compare, class Merge>
void __parallel_merge(Policy&& /*policy*/, I first1, I last1, J first2, J last2, Out out, Compare compare,
                      Merge merge) {
  pstl::run([&](context c) { pstl::merge_blocks(c, first1, last1, first2, last2, out, compare, merge); });
}

/// Calls f and g, which may run at the same time.
template <class Policy, class F, class G> void __parallel_invoke(Policy&& /*policy*/, F&& f, G&& g) {
  pstl::run(
      [&](context c) { sukima::fork2(c, [&] { std::forward<F>(f)(); }, [&] { std::forward<G>(g)(); }); });
}

}  // namespace sukima::detail::pstl

namespace __pstl {
namespace __par_backend = ::sukima::detail::pstl;
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
