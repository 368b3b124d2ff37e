// SPDX-License-Identifier: Apache-2.0
// tbb::parallel_reduce and tbb::parallel_deterministic_reduce on Sukima's workers.
#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_group.h>
#include <sukima/detail/tbb/algorithm.hpp>

#include <atomic>
#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace sukima::detail::tbb {

/// Reduces with one body for consecutive parts. A part that another worker takes before its left neighbour
/// has ended gets a body of its own, which is joined to the left one afterwards.
/// \tparam Deterministic  each part gets a body of its own
template <class Range, class Body, bool Deterministic> struct reduce_work {
  Body& body;

  void leaf(Range& part) { std::invoke(body, part); }
  template <class Left, class Right>
  void fork(context c, const running_state& task, Left left, Right right) {
    std::unique_ptr<Body> second;
    if constexpr (Deterministic)
      if (!make_second(c, task, second)) return;
    // no partner: the load and the store are both here
    std::atomic<bool> left_ended{false};
    sukima::fork2(
        c,
        [&](context d) {
          left(d, *this);
          left_ended.store(true, std::memory_order_release);
        },
        [&](context d) {
          if (!Deterministic && left_ended.load(std::memory_order_acquire)) {
            right(d, *this);
          } else if (Deterministic || make_second(d, task, second)) {
            reduce_work own{*second};
            right(d, own);
          }
        });
    if (second != nullptr)
      tbb::run_body(c, task, [&] {
        if (!task.group->is_cancelled()) body.join(*second);
        second.reset();
      });
  }

 private:
  bool make_second(context c, const running_state& task, std::unique_ptr<Body>& second) noexcept {
    tbb::run_body(c, task, [&] { second.reset(new Body(body, ::tbb::split())); });
    return second != nullptr;
  }
};

template <bool Deterministic, class Range, class Body, class Partitioner>
void parallel_reduce(const Range& range, Body& body, const Partitioner&, ::tbb::task_group_context& of) {
  if (range.empty()) return;
  tbb::run_in(of, [&](context c, const running_state& task) {
    reduce_work<Range, Body, Deterministic> work{body};
    tbb::divide_range<Partitioner>(c, task, range, work);
  });
}

/// The body for the functional form: a value, and the functions that change it.
template <class Range, class Value, class Real, class Join> class functional_reduction {
 public:
  functional_reduction(const Value& identity, const Real& real, const Join& join)
      : identity_(identity), real_(real), join_(join), value_(identity) {}
  functional_reduction(functional_reduction& other, ::tbb::split)
      : identity_(other.identity_), real_(other.real_), join_(other.join_), value_(other.identity_) {}
  void operator()(Range& part) {
    value_ = std::invoke(real_, const_cast<const Range&>(part), std::move(value_));
  }
  void join(functional_reduction& right) {
    value_ = std::invoke(join_, std::move(value_), std::move(right.value_));
  }
  Value&& result() && noexcept { return std::move(value_); }

 private:
  const Value& identity_;
  const Real& real_;
  const Join& join_;
  Value value_;
};

template <class Body, class Range>
concept parallel_reduce_body = splittable<Body> && requires(Body& body, const Range& part, Body& right) {
  body(part);
  body.join(right);
};
template <class F, class Range, class Value>
concept parallel_reduce_function = requires(const F& f, const Range& part, Value&& x) {
  { std::invoke(f, part, std::move(x)) } -> std::convertible_to<Value>;
};
template <class F, class Value>
concept parallel_reduce_combine = requires(const F& f, Value&& a, Value&& b) {
  { std::invoke(f, std::move(a), std::move(b)) } -> std::convertible_to<Value>;
};

template <bool Deterministic, class Default, class Range, class Body, class... Options>
void reduce_body(const Range& range, Body& body, Options&... options) {
  tbb::with_options<Default>(
      [&](auto& partitioner, ::tbb::task_group_context& of) {
        tbb::parallel_reduce<Deterministic>(range, body, partitioner, of);
      },
      options...);
}
template <bool Deterministic, class Default, class Range, class Value, class Real, class Join,
          class... Options>
Value reduce_functions(const Range& range, const Value& identity, const Real& real, const Join& join,
                       Options&... options) {
  functional_reduction<Range, Value, Real, Join> body(identity, real, join);
  tbb::reduce_body<Deterministic, Default>(range, body, options...);
  return std::move(body).result();
}

}  // namespace sukima::detail::tbb

namespace tbb {

/// Reduces a range with a body, which is split and joined. \throws the first exception of the body
template <class Range, class Body, class... Options>
  requires(::sukima::detail::tbb::algorithm_options<Options...> && ::sukima::detail::tbb::tbb_range<Range> &&
           ::sukima::detail::tbb::parallel_reduce_body<Body, Range>)
void parallel_reduce(const Range& range, Body& body, Options&&... options) {
  ::sukima::detail::tbb::reduce_body<false, auto_partitioner>(range, body, options...);
}
/// Reduces a range: value = real_body(part, value), then value = reduction(left value, right value). \throws
/// the first exception of a callback
template <class Range, class Value, class RealBody, class Reduction, class... Options>
  requires(::sukima::detail::tbb::algorithm_options<Options...> && ::sukima::detail::tbb::tbb_range<Range> &&
           ::sukima::detail::tbb::parallel_reduce_function<RealBody, Range, Value> &&
           ::sukima::detail::tbb::parallel_reduce_combine<Reduction, Value>)
Value parallel_reduce(const Range& range, const Value& identity, const RealBody& real_body,
                      const Reduction& reduction, Options&&... options) {
  return ::sukima::detail::tbb::reduce_functions<false, auto_partitioner>(range, identity, real_body,
                                                                          reduction, options...);
}

/// The same, but each run divides and joins the range in the same way. Takes simple_partitioner, which is the
/// default, or static_partitioner.
template <class Range, class Body, class... Options>
  requires(::sukima::detail::tbb::algorithm_options<Options...> && ::sukima::detail::tbb::tbb_range<Range> &&
           ::sukima::detail::tbb::parallel_reduce_body<Body, Range>)
void parallel_deterministic_reduce(const Range& range, Body& body, Options&&... options) {
  ::sukima::detail::tbb::reduce_body<true, simple_partitioner>(range, body, options...);
}
template <class Range, class Value, class RealBody, class Reduction, class... Options>
  requires(::sukima::detail::tbb::algorithm_options<Options...> && ::sukima::detail::tbb::tbb_range<Range> &&
           ::sukima::detail::tbb::parallel_reduce_function<RealBody, Range, Value> &&
           ::sukima::detail::tbb::parallel_reduce_combine<Reduction, Value>)
Value parallel_deterministic_reduce(const Range& range, const Value& identity, const RealBody& real_body,
                                    const Reduction& reduction, Options&&... options) {
  return ::sukima::detail::tbb::reduce_functions<true, simple_partitioner>(range, identity, real_body,
                                                                           reduction, options...);
}

}  // namespace tbb
