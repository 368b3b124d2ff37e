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
/// Marks the call of a scan's body that only adds.
struct pre_scan_tag {
  static bool is_final_scan() { return false; }
  operator bool() const { return is_final_scan(); }  // NOLINT(google-explicit-constructor)
};
/// Marks the call of a scan's body that adds and writes the result.
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

/// The body that the functional form is.
template <class Range, class Value, class Scan, class Join> class functional_scan {
 public:
  functional_scan(const Value& identity, const Scan& scan, const Join& join)
      : identity_(identity), scan_(scan), join_(join), sum_(identity) {}
  functional_scan(functional_scan& other, ::tbb::split)
      : identity_(other.identity_), scan_(other.scan_), join_(other.join_), sum_(other.identity_) {}
  /// The function may take the tag itself, or as a bool.
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

/// A scan over a range, divided into some parts for each worker.
///
/// The first pass goes from left to right. While it is not interrupted it is the final one. A part that
/// another worker takes before its left neighbour has ended is only summed, with a body of its own. The
/// second pass goes over these parts, when what is before each is known.
template <class Range, class Body> class scan_of {
 public:
  /// \param fully  the body gets parts that are not divisible
  scan_of(const running_state& task, std::size_t parts, bool fully) noexcept
      : task_(task), parts_(parts), fully_(fully) {}

  /// \param body  with the sum before the range, afterwards with that of all
  void run(context c, const Range& range, Body& body) noexcept {
    node root;
    if (!guarded(c, [&] { root.range.emplace(range); })) return;
    first_pass(c, root, body, parts_, true);
  }

 private:
  /// A part of the range that is one leaf, or is divided into two.
  struct node {
    std::optional<Range> range;
    std::unique_ptr<Body> sum;  ///< of a part that is not final
    std::unique_ptr<node> left;
    std::unique_ptr<node> right;
  };

  template <class F> bool guarded(context c, F f) noexcept {
    if (task_.group->is_cancelled()) return false;
    bool done = false;
    run_body(c, task_, [&] {
      f();
      done = true;
    });
    return done;
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
  static std::unique_ptr<Body> identity_of(Body& b) {
    return std::unique_ptr<Body>(new Body(b, ::tbb::split()));
  }

  /// \param final  `body` has the sum before the part; otherwise the sum is only wanted
  void first_pass(context c, node& n, Body& body, std::size_t parts, bool final) noexcept {
    bool divided = false;
    if (parts > 1 && !guarded(c, [&] {
          if (!n.range->is_divisible()) return;
          n.left = std::make_unique<node>();
          n.right = std::make_unique<node>();
          n.left->range.emplace(*n.range);
          n.right->range.emplace(*n.left->range, ::tbb::split());
          divided = true;
        }))
      return;
    if (!divided) {
      guarded(c, [&] {
        if (final)
          scan_part(*n.range, body, ::tbb::final_scan_tag());
        else
          scan_part(*n.range, body, ::tbb::pre_scan_tag());
      });
      return;
    }
    if (final)
      final_halves(c, n, body, parts);
    else
      summed_halves(c, n, body, parts);
  }
  void final_halves(context c, node& n, Body& body, std::size_t parts) noexcept {
    std::atomic<bool> left_ended{false};  // no partner: the load and the store are both here
    fork2(
        c,
        [&](context d) {
          first_pass(d, *n.left, body, parts / 2, true);
          left_ended.store(true, std::memory_order_release);
        },
        [&](context d) {
          if (left_ended.load(std::memory_order_acquire)) {
            first_pass(d, *n.right, body, parts - parts / 2, true);
          } else if (guarded(d, [&] { n.right->sum = identity_of(body); })) {
            first_pass(d, *n.right, *n.right->sum, parts - parts / 2, false);
          }
        });
    if (n.right->sum == nullptr || task_.group->is_cancelled()) return;
    second_pass(c, *n.right, body);
    guarded(c, [&] {
      n.right->sum->reverse_join(body);
      body.assign(*n.right->sum);
    });
  }
  /// `body` becomes the sum of both halves.
  void summed_halves(context c, node& n, Body& body, std::size_t parts) noexcept {
    if (!guarded(c, [&] {
          n.left->sum = identity_of(body);
          n.right->sum = identity_of(body);
        }))
      return;
    fork2(
        c, [&](context d) { first_pass(d, *n.left, *n.left->sum, parts / 2, false); },
        [&](context d) { first_pass(d, *n.right, *n.right->sum, parts - parts / 2, false); });
    guarded(c, [&] {
      body.assign(*n.right->sum);
      body.reverse_join(*n.left->sum);
    });
  }
  /// \param before  the sum before the part
  void second_pass(context c, node& n, Body& before) noexcept {
    if (n.left == nullptr) {
      guarded(c, [&] {
        const std::unique_ptr<Body> own = identity_of(before);
        own->assign(before);
        scan_part(*n.range, *own, ::tbb::final_scan_tag());
      });
      return;
    }
    std::unique_ptr<Body> middle;
    if (!guarded(c, [&] {
          middle = identity_of(before);
          middle->assign(*n.left->sum);
          middle->reverse_join(before);
        }))
      return;
    fork2(
        c, [&](context d) { second_pass(d, *n.left, before); },
        [&](context d) { second_pass(d, *n.right, *middle); });
  }

  running_state task_;
  std::size_t parts_;
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
  run_in(of, [&](context c, const running_state& task) {
    const arena& where = task.where != nullptr ? *task.where : default_arena();
    constexpr std::size_t parts_of_a_worker = 16;
    const auto workers = static_cast<std::size_t>(where.concurrency());
    scan_of<Range, Body>(task, workers * parts_of_a_worker, how == division::fully).run(c, range, body);
  });
}

}  // namespace sukima::detail::tbb
