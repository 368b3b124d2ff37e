// SPDX-License-Identifier: Apache-2.0
// The run of a tbb::parallel_pipeline: tokens that pass through stages.
#pragma once

#include <sukima/detail/tbb/algorithm.hpp>
#include <sukima/task_group.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

namespace tbb {
/// How many tokens a stage processes at a time, and in which order.
enum class filter_mode : unsigned { parallel, serial_in_order, serial_out_of_order };

/// Lets the first stage end the pipeline.
class flow_control {
 public:
  void stop() noexcept { stopped_ = true; }
  /// Used by the pipeline.
  bool is_stopped() const noexcept { return stopped_; }

 private:
  bool stopped_ = false;
};
}  // namespace tbb

namespace sukima::detail::tbb {

/// Data between two stages.
struct pipeline_item {
  pipeline_item() = default;
  pipeline_item(const pipeline_item&) = delete;
  pipeline_item& operator=(const pipeline_item&) = delete;
  virtual ~pipeline_item() = default;
};
template <class T> struct pipeline_value final : pipeline_item {
  T value;
  template <class U> explicit pipeline_value(U&& v) : value(std::forward<U>(v)) {}
};
using item_owner = std::unique_ptr<pipeline_item>;

/// A stage of a pipeline. Copies of a filter share it.
class pipeline_stage {
 public:
  explicit pipeline_stage(::tbb::filter_mode m) noexcept : mode(m) {}
  pipeline_stage(const pipeline_stage&) = delete;
  pipeline_stage& operator=(const pipeline_stage&) = delete;
  virtual ~pipeline_stage() = default;
  virtual item_owner call(item_owner in, ::tbb::flow_control& control) const = 0;
  const ::tbb::filter_mode mode;
};
template <class In, class Out, class Body> class stage_of final : public pipeline_stage {
 public:
  stage_of(::tbb::filter_mode m, const Body& body) : pipeline_stage(m), body_(body) {}
  item_owner call(item_owner in, ::tbb::flow_control& control) const override {
    const auto run = [&]() -> decltype(auto) {
      if constexpr (std::is_void_v<In>)
        return std::invoke(body_, control);
      else
        return std::invoke(body_, std::move(static_cast<pipeline_value<std::decay_t<In>>&>(*in).value));
    };
    if constexpr (std::is_void_v<Out>) {
      run();
      return nullptr;
    } else {
      return std::make_unique<pipeline_value<std::decay_t<Out>>>(run());
    }
  }

 private:
  Body body_;
};

/// The types of a stage whose body has one function-call operator.
template <class In, class Out> struct stage_types {
  using input = std::conditional_t<std::is_same_v<In, ::tbb::flow_control>, void, In>;
  using output = Out;
};
template <class Body, class In, class Out>
stage_types<std::remove_cvref_t<In>, std::remove_cvref_t<Out>> types_of(Out (Body::*)(In) const);
template <class Body, class In, class Out>
stage_types<std::remove_cvref_t<In>, std::remove_cvref_t<Out>> types_of(Out (Body::*)(In));
template <class Body> using stage_input = typename decltype(types_of(&Body::operator()))::input;
template <class Body> using stage_output = typename decltype(types_of(&Body::operator()))::output;

/// Tokens are children of a task group. If a serial stage is in use, or its next token must be another one,
/// the stage keeps the token. The token that leaves the stage then makes a child of the next one.
class pipeline_run {
 public:
  using stages = std::vector<std::shared_ptr<const pipeline_stage>>;

  pipeline_run(const running_state& task, const stages& all, std::size_t most, task_group& group)
      : task_(task), group_(group), most_(std::min<std::size_t>(most, most_tokens)), rooms_(all.size()) {
    for (std::size_t i = 0; i < all.size(); ++i) rooms_[i].stage = all[i].get();
  }
  void start() { add_input(); }

 private:
  /// More tokens would only wait. Beyond about a thousand children, a task group's run() runs them itself.
  static constexpr std::size_t most_tokens = 256;

  struct token {
    std::uint64_t number = 0;
    std::size_t at = 0;  ///< its next stage
    bool inside = false; ///< it has entered that stage already
    item_owner item;
  };
  struct room {
    const pipeline_stage* stage = nullptr;
    bool in_use = false;
    std::uint64_t next = 0;  ///< the number of the next token, if the stage keeps the order
    std::map<std::uint64_t, token> waiting;

    bool is_serial() const noexcept { return stage->mode != ::tbb::filter_mode::parallel; }
    bool admits(std::uint64_t number) const noexcept {
      return !in_use && (stage->mode != ::tbb::filter_mode::serial_in_order || number == next);
    }
  };

  bool is_cancelled() const noexcept { return task_.group->is_cancelled(); }
  template <class F> void add_child(F f) {
    group_.run([f = std::move(f)] { with_context([&](context c) { f(c); }); });
  }
  /// Adds a child that reads the input, unless enough tokens are under way.
  void add_input() {
    {
      const std::lock_guard hold(lock_);
      if (ended_ || tokens_ == most_ || (rooms_[0].is_serial() && rooms_[0].in_use)) return;
      rooms_[0].in_use = true;
      ++tokens_;
    }
    add_child([this](context c) { read_input(c); });
  }
  void read_input(context c) noexcept {
    token t;
    bool read = false;
    ::tbb::flow_control control;
    if (!is_cancelled())
      tbb::run_body(c, task_, [&] {
        t.item = rooms_[0].stage->call(nullptr, control);
        read = !control.is_stopped();
      });
    {
      const std::lock_guard hold(lock_);
      rooms_[0].in_use = false;
      if (read) {
        t.number = numbers_++;
      } else {
        ended_ = true;
        --tokens_;
      }
    }
    if (!read) return;
    guarded(c, [this] { add_input(); });
    t.at = 1;
    go_on(c, std::move(t));
  }
  void go_on(context c, token moved) noexcept {
    for (; moved.at < rooms_.size(); ++moved.at) {
      if (is_cancelled()) return;
      room& r = rooms_[moved.at];
      if (r.is_serial() && !moved.inside && !enter_room(c, r, moved)) return;
      moved.inside = false;
      ::tbb::flow_control unused;
      tbb::run_body(c, task_, [&] { moved.item = r.stage->call(std::move(moved.item), unused); });
      if (r.is_serial()) guarded(c, [&] { leave_room(r); });
    }
    {
      const std::lock_guard hold(lock_);
      --tokens_;
    }
    guarded(c, [this] { add_input(); });
  }
  /// \returns false if the stage keeps the token
  bool enter_room(context c, room& r, token& t) noexcept {
    bool entered = false;
    guarded(c, [&] {
      const std::lock_guard hold(lock_);
      entered = r.admits(t.number);
      if (entered)
        r.in_use = true;
      else
        r.waiting.emplace(t.number, std::move(t));
    });
    return entered;
  }
  void leave_room(room& r) {
    token next;
    {
      const std::lock_guard hold(lock_);
      r.in_use = false;
      ++r.next;
      if (r.waiting.empty() || !r.admits(r.waiting.begin()->first)) return;
      next = std::move(r.waiting.begin()->second);
      r.waiting.erase(r.waiting.begin());
      r.in_use = true;
    }
    next.inside = true;
    auto kept = std::make_shared<token>(std::move(next));
    add_child([this, kept](context c) { go_on(c, std::move(*kept)); });
  }
  /// An exception here, for lack of memory, cancels the pipeline.
  template <class F> void guarded(context c, F f) noexcept { tbb::run_body(c, task_, f); }

  running_state task_;
  task_group& group_;
  const std::size_t most_;
  std::mutex lock_;  // protects the members below
  std::vector<room> rooms_;
  std::size_t tokens_ = 0;
  std::uint64_t numbers_ = 0;
  bool ended_ = false;
};

inline void run_pipeline(std::size_t most, const pipeline_run::stages& all, ::tbb::task_group_context& of) {
  tbb::run_in(of, [&](context c, const running_state& task) {
    task_group group(c);
    pipeline_run run(task, all, most, group);
    tbb::run_body(c, task, [&] { run.start(); });
    group.wait(c);
  });
}

}  // namespace sukima::detail::tbb
