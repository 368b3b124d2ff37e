// SPDX-License-Identifier: Apache-2.0
// The limits of tbb::global_control, and arenas that have their own number of workers.
#pragma once

#include <sukima/detail/tbb/arena.hpp>
#include <sukima/detail/tbb/group_state.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace sukima::detail {
/// \throws bad_setting. A program that does not catch it prints the text and ends with exit code 2
[[noreturn]] void throw_bad_setting(const std::string& text);
}  // namespace sukima::detail

namespace sukima::detail::tbb {

/// A runtime for the arenas of a program with this number of workers.
struct own_arena {
  runtime own;
  arena there{own};
  explicit own_arena(const settings& chosen) : own(chosen) {}
};

/// Settings of the program for all its arenas. Neither they nor the runtimes are ever freed: an arena may end
/// while it has tasks, and a program that makes arenas in a loop should not start threads each time.
class program_controls {
 public:
  enum kind : unsigned { parallelism, stack_size, terminate_on_exception, handle, kinds };

  void add(unsigned of, std::size_t value) {
    const std::lock_guard hold(lock_);
    values_[of].insert(value);
    apply();
  }
  void remove(unsigned of, std::size_t value) {
    const std::lock_guard hold(lock_);
    values_[of].erase(values_[of].find(value));
    apply();
  }
  std::size_t active(unsigned of) {
    const std::lock_guard hold(lock_);
    const auto& all = values_[of];
    switch (of) {
      case parallelism:
        return all.empty() ? default_arena().on().workers() : std::max<std::size_t>(*all.begin(), 1);
      case stack_size:
        return all.empty() ? default_stack : *all.rbegin();
      default:
        return all.empty() ? 0 : *all.rbegin();
    }
  }

  /// Returns an arena with this number of workers that no other object uses.
  arena& take_arena(unsigned workers) {
    const std::lock_guard hold(lock_);
    auto& free = free_[workers];
    if (!free.empty()) {
      own_arena* const found = free.back();
      free.pop_back();
      return found->there;
    }
    if (workers > settings::most_workers)
      throw_bad_setting("sukima: tbb::task_arena has at most " + std::to_string(settings::most_workers) +
                        " workers, but the program requests " + std::to_string(workers) +
                        "; give it a smaller max_concurrency, or tbb::task_arena::automatic");
    settings chosen = settings::from_environment();
    chosen.workers = workers;
    chosen.elastic = false;
    arenas_.push_back(std::make_unique<own_arena>(chosen));
    apply_to(arenas_.back()->own);
    return arenas_.back()->there;
  }
  void give_back(arena& a) noexcept {
    const std::lock_guard hold(lock_);
    for (const auto& each : arenas_)
      if (&each->there == &a) free_[each->own.workers()].push_back(each.get());
  }

 private:
  static constexpr std::size_t default_stack = std::size_t{4} << 20;

  void apply_to(runtime& on) {
    const auto& limits = values_[parallelism];
    on.limit_workers(limits.empty() ? 0
                                    : static_cast<unsigned>(std::clamp<std::size_t>(*limits.begin(), 1,
                                                                                    settings::most_workers)));
  }
  void apply() {
    apply_to(default_arena().on());
    for (const auto& each : arenas_) apply_to(each->own);
    const auto& ends = values_[terminate_on_exception];
    ends_at_exceptions.store(!ends.empty() && *ends.rbegin() != 0, std::memory_order_relaxed);
  }

  std::mutex lock_;  // protects the members below
  std::array<std::multiset<std::size_t>, kinds> values_;
  std::vector<std::unique_ptr<own_arena>> arenas_;
  std::map<unsigned, std::vector<own_arena*>> free_;
};

inline program_controls& controls() {
  static program_controls& only = *new program_controls;
  return only;
}

}  // namespace sukima::detail::tbb
