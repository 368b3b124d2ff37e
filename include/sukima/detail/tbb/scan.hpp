// SPDX-License-Identifier: Apache-2.0
// The two passes of tbb::parallel_scan.
#pragma once

#include <sukima/detail/tbb/algorithm.hpp>
#include <sukima/fork.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace tbb {
/// Marks a call of a scan's body that only adds.
struct pre_scan_tag {
  static bool is_final_scan() { return false; }
  operator bool() const { return is_final_scan(); }  // NOLINT(google-explicit-constructor)
};
/// Marks a call of a scan's body that adds and writes the result.
struct final_scan_tag {
  static bool is_final_scan() { return true; }
  operator bool() const { return is_final_scan(); }  // NOLINT(google-explicit-constructor)
};
}  // namespace tbb

namespace sukima::detail::tbb {

/// A partitioner, or nothing.
template <class... Options>
concept scan_options = sizeof...(Options) <= 1 && (partitioner<Options> && ...);

template <class Body, class Range>
concept parallel_scan_body = splittable<Body> && requires(Body& body, const Range& part, Body& other) {
  body(part, ::tbb::pre_scan_tag{});
  body(part, ::tbb::final_scan_tag{});
  body.reverse_join(other);
  body.assign(other);
};
template <class F, class Range, class Value>
concept parallel_scan_function = requires(const F& f, const Range& part, const Value& sum) {
  { std::invoke(f, part, sum, true) } -> std::convertible_to<Value>;
};
template <class F, class Value>
concept parallel_scan_combine = requires(const F& f, const Value& a, const Value& b) {
  { std::invoke(f, a, b) } -> std::convertible_to<Value>;
};

/// The body for the functional form.
template <class Range, class Value, class Scan, class Join> class functional_scan {
 public:
  functional_scan(const Value& identity, const Scan& scan, const Join& join)
      : identity_(identity), scan_(scan), join_(join), sum_(identity) {}
  functional_scan(functional_scan& other, ::tbb::split)
      : identity_(other.identity_), scan_(other.scan_), join_(other.join_), sum_(other.identity_) {}
  /// The function may take the tag itself, or a bool.
  template <class Tag> void operator()(const Range& part, Tag tag) {
    sum_ = std::invoke(scan_, part, const_cast<const Value&>(sum_), tag);
  }
  void reverse_join(functional_scan& left) {
    sum_ = std::invoke(join_, const_cast<const Value&>(left.sum_), const_cast<const Value&>(sum_));
  }
  void assign(functional_scan& other) { sum_ = other.sum_; }
  Value&& result() && noexcept { return std::move(sum_); }

 private:
  const Value& identity_;
  const Scan& scan_;
  const Join& join_;
  Value sum_;
};

/// A scan over a range, which is divided into several parts for each worker.
///
/// The first pass goes from left to right, and is the final one while no part is taken. A part that another
/// worker takes before its left neighbour has ended is only summed, with bodies of its own. The second pass
/// goes over these parts when the sum before each is known.
///
/// As in TBB, each body takes the same steps. It is split off, sums its part, receives the sum before its
/// part by `reverse_join`, and scans. `assign` is called at most once, for the program's body.
template <class Range, class Body> class scan_of {
 public:
  /// \param body   has the sum before the range, and afterwards the sum of all
  /// \param fully  the body gets parts that are not divisible
  scan_of(const running_state& task, Body& body, bool fully) noexcept
      : task_(task), body_(body), fully_(fully) {}

  void run(context c, const Range& range, std::size_t parts) noexcept {
    node root;
    if (!guarded(c, [&] { root.range.emplace(range); })) return;
    Body* total = &body_;
    final_pass(c, root, total, parts);
    if (total != &body_) guarded(c, [&] { body_.assign(*total); });
  }

 private:
  /// A part of the range that is one leaf, or is divided into two.
  struct node {
    std::optional<Range> range;
    std::unique_ptr<Body> own;  ///< of a leaf that was summed
    Body* sum = nullptr;  ///< the body of the last leaf, once the part is summed
    std::unique_ptr<node> left;
    std::unique_ptr<node> right;
  };

  template <class F> bool guarded(context c, F f) noexcept {
    if (task_.group->is_cancelled()) return false;
    bool done = false;
    tbb::run_body(c, task_, [&] {
      f();
      done = true;
    });
    return done;
  }
  /// Divides a node that should be several parts. \returns false if the division threw
  bool divide(context c, node& n, std::size_t parts) noexcept {
    if (parts <= 1) return true;
    return guarded(c, [&] {
      if (!n.range->is_divisible()) return;
      auto left = std::make_unique<node>();
      auto right = std::make_unique<node>();
      left->range.emplace(*n.range);
      right->range.emplace(*left->range, ::tbb::split());
      n.left = std::move(left);
      n.right = std::move(right);
    });
  }
  /// Calls the body from left to right.
  template <class Tag> void scan_part(Range& part, Body& body, Tag tag) const {
    if (fully_ && part.is_divisible()) {
      Range left(part);
      Range right(left, ::tbb::split());
      scan_part(left, body, tag);
      scan_part(right, body, tag);
    } else {
      body(part, tag);
    }
  }

  /// \param total  the body with the sum before the part; afterwards the body with the sum to the part's end
  void final_pass(context c, node& n, Body*& total, std::size_t parts) noexcept {
    if (!divide(c, n, parts)) return;
    if (n.left == nullptr) {
      guarded(c, [&] { scan_part(*n.range, *total, ::tbb::final_scan_tag()); });
      return;
    }
    std::atomic<bool> left_ended{false};  // no partner: the load and the store are both here
    sukima::fork2(
        c,
        [&](context d) {
          final_pass(d, *n.left, total, parts / 2);
          left_ended.store(true, std::memory_order_release);
        },
        [&](context d) {
          if (left_ended.load(std::memory_order_acquire))
            final_pass(d, *n.right, total, parts - parts / 2);
          else
            sum_pass(d, *n.right, parts - parts / 2);
        });
    if (n.right->sum == nullptr) return;
    Body& before = *total;
    if (!guarded(c, [&] { n.right->sum->reverse_join(before); })) return;
    total = n.right->sum;
    second_pass(c, *n.right, before);
  }
  /// Sets the node's sum, except after a cancellation.
  void sum_pass(context c, node& n, std::size_t parts) noexcept {
    if (!divide(c, n, parts)) return;
    if (n.left == nullptr) {
      guarded(c, [&] {
        n.own.reset(new Body(body_, ::tbb::split()));
        scan_part(*n.range, *n.own, ::tbb::pre_scan_tag());
        n.sum = n.own.get();
      });
      return;
    }
    sukima::fork2(
        c, [&](context d) { sum_pass(d, *n.left, parts / 2); },
        [&](context d) { sum_pass(d, *n.right, parts - parts / 2); });
    if (n.left->sum == nullptr || n.right->sum == nullptr) return;
    if (guarded(c, [&] { n.right->sum->reverse_join(*n.left->sum); })) n.sum = n.right->sum;
  }
  /// \param before  the body with the sum before the part; the first leaf uses it up
  void second_pass(context c, node& n, Body& before) noexcept {
    if (n.left == nullptr) {
      guarded(c, [&] { scan_part(*n.range, before, ::tbb::final_scan_tag()); });
      return;
    }
    Body& middle = *n.left->sum;
    if (!guarded(c, [&] { middle.reverse_join(before); })) return;
    sukima::fork2(
        c, [&](context d) { second_pass(d, *n.left, before); },
        [&](context d) { second_pass(d, *n.right, middle); });
  }

  running_state task_;
  Body& body_;
  bool fully_;
};

template <class... Options> constexpr division division_by() {
  division how = division::adaptive;
  ((how = Options::how), ...);
  return how;
}

template <class Range, class Body> void parallel_scan(const Range& range, Body& body, division how) {
  if (range.empty()) return;
  ::tbb::task_group_context of;
  tbb::run_in(of, [&](context c, const running_state& task) {
    const arena& where = task.where != nullptr ? *task.where : default_arena();
    constexpr std::size_t parts_of_a_worker = 16;
    const auto workers = static_cast<std::size_t>(where.concurrency());
    scan_of<Range, Body>(task, body, how == division::fully).run(c, range, workers * parts_of_a_worker);
  });
}

}  // namespace sukima::detail::tbb
