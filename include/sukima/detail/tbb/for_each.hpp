// SPDX-License-Identifier: Apache-2.0
// The loop of tbb::parallel_for_each over iterators of any kind, and the items that its feeder adds.
#pragma once

#include <sukima/detail/tbb/algorithm.hpp>
#include <sukima/fork.hpp>
#include <sukima/task_group.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace tbb {
/// Adds items to a running parallel_for_each.
template <class Item> class feeder {
 public:
  virtual void add(const Item& item) = 0;
  virtual void add(Item&& item) = 0;

 protected:
  feeder() = default;
  feeder(const feeder&) = default;
  feeder& operator=(const feeder&) = default;
  virtual ~feeder() = default;
};
}  // namespace tbb

namespace sukima::detail::tbb {

/// The type of the items that a body's feeder takes. Items of the sequence may have another type, and are
/// then converted.
template <class Body, class Result, class Item, class Added>
Added added_by(Result (Body::*)(Item, ::tbb::feeder<Added>&) const);
template <class Body, class Value> struct item_of {
  using type = Value;
};
template <class Body, class Value>
  requires requires { added_by<Body>(&Body::operator()); }
struct item_of<Body, Value> {
  using type = decltype(added_by<Body>(&Body::operator()));
};
template <class Body, class I> using for_each_item = typename item_of<Body, std::iter_value_t<I>>::type;

template <class Body, class Reference, class Item>
concept for_each_body =
    std::invocable<const Body&, Reference> || std::invocable<const Body&, Reference, ::tbb::feeder<Item>&>;
template <class Body, class I>
concept for_each_iterator_body = for_each_body<Body, std::iter_reference_t<I>, for_each_item<Body, I>> ||
                                 for_each_body<Body, std::iter_value_t<I>&&, for_each_item<Body, I>>;
template <class Range> using iterator_of = decltype(std::begin(std::declval<Range&>()));
/// Like TBB, checks a const range as if it were not const.
template <class Body, class Range>
concept for_each_range_body = requires(std::remove_cvref_t<Range>& r) {
  { std::begin(r) } -> std::input_iterator;
  { std::end(r) } -> std::input_iterator;
} && for_each_iterator_body<Body, iterator_of<std::remove_cvref_t<Range>>>;

/// Older iterators name their category, but may lack other things that the concepts require.
template <class I, class Tag>
concept tagged_iterator = std::is_base_of_v<Tag, typename std::iterator_traits<I>::iterator_category>;
template <class I>
concept repeatable_iterator = std::forward_iterator<I> || tagged_iterator<I, std::forward_iterator_tag>;
template <class I>
concept indexed_access =
    std::random_access_iterator<I> || tagged_iterator<I, std::random_access_iterator_tag>;

/// Calls a body that takes only an item.
template <class Item, class Body> class item_caller {
 public:
  item_caller(const running_state&, const Body& body, std::size_t) noexcept : body_(body) {}
  void open(task_group&) noexcept {}
  /// Called in a task of the algorithm. A body may take its item as an lvalue only.
  template <class T> void call(T&& item) {
    if constexpr (std::invocable<const Body&, T>)
      std::invoke(body_, std::forward<T>(item));
    else
      std::invoke(body_, item);
  }

 private:
  const Body& body_;
};

/// The same with a feeder: a queue of added items, and children of a task group that run them. There are at
/// most as many such children as workers.
template <class Item, class Body> class item_queue final : ::tbb::feeder<Item> {
 public:
  item_queue(const running_state& task, const Body& body, std::size_t workers) noexcept
      : task_(task), body_(body), workers_(workers) {}

  /// \pre called in the block of this group, before any item
  void open(task_group& g) noexcept { group_ = &g; }
  template <class T> void call(T&& item) {
    ::tbb::feeder<Item>& self = *this;
    if constexpr (std::invocable<const Body&, T, ::tbb::feeder<Item>&>)
      std::invoke(body_, std::forward<T>(item), self);
    else
      std::invoke(body_, item, self);
  }
  void add(const Item& item) override {
    if constexpr (std::copy_constructible<Item>)
      put(item);
    else
      std::terminate();  // the interface is virtual, so only here it is known that the item cannot be copied
  }
  void add(Item&& item) override { put(std::move(item)); }

 private:
  template <class T> void put(T&& item) {
    {
      const std::lock_guard hold(lock_);
      items_.push_back(std::forward<T>(item));
      if (running_ == workers_) return;
      ++running_;
    }
    try {
      group_->run([this] { with_context([this](context c) { drain(c); }); });
    } catch (...) {
      const std::lock_guard hold(lock_);
      --running_;
      throw;  // cancels the algorithm
    }
  }
  void drain(context c) noexcept {
    std::optional<Item> item;
    while (take(item))
      if (!task_.group->is_cancelled()) tbb::run_body(c, task_, [&] { call(std::move(*item)); });
  }
  /// Takes the newest item, so that the queue stays short.
  bool take(std::optional<Item>& item) noexcept {
    item.reset();
    const std::lock_guard hold(lock_);
    if (items_.empty()) {
      --running_;
      return false;
    }
    item.emplace(std::move(items_.back()));
    items_.pop_back();
    return true;
  }

  running_state task_;
  const Body& body_;
  const std::size_t workers_;
  task_group* group_ = nullptr;
  std::mutex lock_;  // protects the members below
  std::deque<Item> items_;
  std::size_t running_ = 0;
};

/// The class that calls a body, depending on the body's arguments.
template <class I, class Body> inline constexpr bool takes_item_only =
    std::invocable<const Body&, std::iter_reference_t<I>> ||
    std::invocable<const Body&, std::iter_value_t<I>&> || std::invocable<const Body&, std::iter_value_t<I>&&>;
template <class I, class Body> using caller_for =
    std::conditional_t<takes_item_only<I, Body>, item_caller<std::iter_value_t<I>, Body>,
                       item_queue<for_each_item<Body, I>, Body>>;

/// Iterators that only one task may advance at a time.
template <class I> class guarded_iterator {
 public:
  static constexpr int block = 4;

  guarded_iterator(I first, I last) : next_(std::move(first)), last_(std::move(last)) {}
  /// Calls take(position) for the next `block` positions at most. \returns false at the end
  template <class F> bool advance(F take) {
    const std::lock_guard hold(lock_);
    if (ended_) return false;
    int taken = 0;
    ended_ = true;  // an exception ends the loop
    for (; taken < block && next_ != last_; ++taken, ++next_) take(next_);
    ended_ = taken < block;
    return taken > 0;
  }

 private:
  std::mutex lock_;  // protects the members below
  I next_;
  I last_;
  bool ended_ = false;
};

/// Calls the body for the items of [first, last). They are read in order and stored until their call: as
/// positions of a forward iterator, otherwise as values.
template <class I, class Queue>
void for_each_in_order(context c, const running_state& task, guarded_iterator<I>& all,
                       Queue& queue) noexcept {
  using item = std::conditional_t<repeatable_iterator<I>, I, std::iter_value_t<I>>;
  bool more = true;
  while (more && !task.group->is_cancelled())
    tbb::run_body(c, task, [&] {
      more = false;
      std::vector<item> block;
      block.reserve(guarded_iterator<I>::block);  // growth would copy items whose move may throw
      const bool found = all.advance([&](I& at) {
        if constexpr (repeatable_iterator<I>)
          block.push_back(at);
        else
          block.emplace_back(*at);
      });
      for (item& each : block) {
        if (task.group->is_cancelled()) return;
        if constexpr (repeatable_iterator<I>)
          queue.call(*each);
        else
          queue.call(std::move(each));
      }
      more = found;
    });
}
template <class I, class Queue> void each_worker(context c, const running_state& task, std::size_t workers,
                                                 guarded_iterator<I>& all, Queue& queue) noexcept {
  if (workers == 1) {
    tbb::for_each_in_order(c, task, all, queue);
    return;
  }
  sukima::fork2(
      c, [&](context d) { tbb::for_each_in_order(d, task, all, queue); },
      [&](context d) { tbb::each_worker(d, task, workers - 1, all, queue); });
}

/// A part of a sequence with random access, as a range that can be divided.
template <class I> struct iterator_range {
  I first;
  I last;
  iterator_range(I f, I l) : first(f), last(l) {}
  iterator_range(iterator_range& r, ::tbb::split) : first(r.first + (r.last - r.first) / 2), last(r.last) {
    r.last = first;
  }
  bool empty() const { return first == last; }
  bool is_divisible() const { return last - first > 1; }
};
template <class I, class Queue> struct for_each_work {
  Queue& queue;
  void leaf(iterator_range<I>& part) {
    for (I i = part.first; i != part.last; ++i) queue.call(*i);
  }
  template <class Left, class Right> void fork(context c, const running_state&, Left left, Right right) {
    sukima::fork2(c, [&](context d) { left(d, *this); }, [&](context d) { right(d, *this); });
  }
};

template <class I, class Body> void for_each(I first, I last, const Body& body,
                                             ::tbb::task_group_context& of) {
  if (first == last) return;
  tbb::run_in(of, [&](context c, const running_state& task) {
    const arena& where = task.where != nullptr ? *task.where : default_arena();
    const auto workers = static_cast<std::size_t>(where.concurrency());
    caller_for<I, Body> queue(task, body, workers);
    task_group added(c);
    queue.open(added);
    if constexpr (indexed_access<I>) {
      for_each_work<I, caller_for<I, Body>> work{queue};
      divide_range<::tbb::auto_partitioner>(c, task, iterator_range<I>(first, last), work);
    } else {
      guarded_iterator<I> all(first, last);
      tbb::each_worker(c, task, workers, all, queue);
    }
    added.wait(c);
  });
}

}  // namespace sukima::detail::tbb
