// SPDX-License-Identifier: Apache-2.0
// Branch and bound on several nodes: best_solution, which all nodes of an entry share.
#pragma once

#include <sukima/cluster/call.hpp>
#include <sukima/detail/containers.hpp>
#include <sukima/search.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sukima::detail {

class solution_board;
/// Returns the board of this process's node.
SUKIMA_EXCHANGES_CONTAINERS solution_board& own_solution_board();

/// A best solution in the form in which nodes exchange it: bytes under a name.
class shared_solution {
 public:
  shared_solution(const shared_solution&) = delete;
  shared_solution& operator=(const shared_solution&) = delete;
  const std::string& name() const noexcept { return name_; }

  /// Drops the solution. Called when an entry begins.
  virtual void reset() = 0;
  /// Returns the best solution so far, in bytes; empty if there is none.
  virtual std::vector<std::byte> encoded() const = 0;
  /// Keeps another node's solution if it is better. \throws what decoding throws
  virtual void merge(std::span<const std::byte> from) = 0;

 protected:
  /// \throws usage_error if the board has a solution of that name, or the name is longer than 255 bytes
  shared_solution(std::string name, solution_board& board);
  virtual ~shared_solution();
  /// Puts the object on the board, where the nodes see it. A constructor calls this last, when the object is
  /// complete.
  void publish();
  /// Makes the node send the solution to the others.
  void announce() const noexcept;
  /// \throws std::length_error if a solution of `size` bytes is too long
  static void check_size(std::size_t size);
  /// Takes the object off the board. A destructor calls this first, while the object is complete.
  void leave_board() noexcept;

 private:
  std::string name_;
  solution_board& board_;
  bool is_published_ = false;
};

}  // namespace sukima::detail

namespace sukima::cluster {
/// \addtogroup cluster
/// @{

/// The best solution so far of an entry, shared by all workers of all nodes: for branch and bound in tasks
/// that travel. Declare it with static storage, or in main around the entries that use it:
///
///     sukima::cluster::best_solution<packing, long, std::greater<>> best("packing", 0);
///
/// The node sends an improvement to the others at once, so that they soon prune by it. The result of a task
/// arrives together with the solution by which the task may have been pruned. After the entry, `best()` and
/// `bound()` are the same on all nodes and in all runs, with and without `--hope`, if
/// - tasks prune by `promising` only, with a cost that no solution below them undercuts;
/// - the program takes the entry's result from here, because values that tasks return may depend on pruning.
///
/// Each entry begins without a solution. Of solutions of equal cost the smallest value by `<` is kept, so
/// `promising` accepts a cost equal to the best one. If choices are tried in ascending order and compared
/// lexicographically, the smallest solution is the first that a sequential search finds.
/// \tparam Value  a solution: can travel, and has `<`, a strict total order
/// \tparam Cost   trivially copyable, as for std::atomic
/// \tparam Less   less(a, b): a is better than b
template <class Value, class Cost, class Less = std::less<>>
  requires can_travel<Value> && can_be_copied<Cost> && std::copyable<Value> && requires(const Value& v) {
    { v < v } -> std::convertible_to<bool>;
  }
class best_solution final : private detail::shared_solution {
 public:
  /// \param name   the same on all nodes; no two objects may have it at the same time
  /// \param bound  solutions must be better than this
  /// \param less   the order of the costs
  /// \param board  for tests: the board of another node of this process
  /// \throws usage_error if another object has that name, or the name is longer than 255 bytes;
  ///         std::bad_alloc
  explicit best_solution(std::string name, Cost bound, Less less = {},
                         detail::solution_board& board = detail::own_solution_board())
      : shared_solution(std::move(name), board), initial_(bound), bound_(bound), less_(std::move(less)) {
    publish();
  }
  ~best_solution() override { leave_board(); }

  /// Returns the cost of the best solution that this node knows. It may be outdated, but is never better than
  /// the best solution. Any thread. \par Complexity one load
  Cost bound() const noexcept {
    return bound_.load(std::memory_order_relaxed);
  }  // relaxed, because the lock guards the value
  /// Whether a solution of this cost, or a better one, could still be the best. Any thread. \par Complexity
  /// one load
  bool promising(const Cost& cost) const { return !less_(bound(), cost); }
  /// Offers a solution, and sends it to the other nodes if it is kept. Any thread.
  /// \returns whether it was kept
  /// \throws what encoding or copying throws; std::length_error for a solution of more than 1 MiB
  /// \par Complexity one load; for a promising cost linear in the size of the solution
  bool offer(const Cost& cost, const Value& value) {
    if (!promising(cost)) return false;
    std::vector<std::byte> form;
    detail::put_value(cost, form);
    const std::size_t beginning = form.size();
    detail::put_value(value, form);
    check_size(form.size() - beginning);
    Value copy(value);  // if this throws, the best solution stays whole
    {
      const std::lock_guard hold(lock_);
      if (!keep(cost, std::move(copy), std::move(form))) return false;
    }
    announce();
    return true;
  }
  /// Returns a copy of the best solution that this node knows; empty if there is none. After the entry it is
  /// the best of all nodes. Store it before a loop over its parts: before C++23, `for (auto m :
  /// best.best()->moves)` loops over a copy that is already destroyed.
  ///
  ///     if (const auto found = best.best())
  ///       for (auto m : found->moves) print(m);
  ///
  /// Any thread. \throws what copying throws
  std::optional<Value> best() const {
    const std::lock_guard hold(lock_);
    return best_;
  }

 private:
  void reset() override {
    const std::lock_guard hold(lock_);
    best_.reset();
    form_.clear();
    bound_.store(initial_, std::memory_order_relaxed);
  }
  std::vector<std::byte> encoded() const override {
    const std::lock_guard hold(lock_);
    return form_;
  }
  void merge(std::span<const std::byte> from) override {
    const std::span<const std::byte> whole = from;
    const Cost cost = detail::get_value<Cost>(from);
    Value value = detail::get_value<Value>(from);
    const auto used = whole.first(whole.size() - from.size());
    std::vector<std::byte> form(used.begin(), used.end());
    const std::lock_guard hold(lock_);
    keep(cost, std::move(value), std::move(form));
  }
  /// Keeps a solution that is better, or has the same cost and a smaller value. \pre the lock is held
  bool keep(const Cost& cost, Value&& value, std::vector<std::byte>&& form) {
    const Cost now = bound();
    const bool is_better = less_(cost, now) || (best_ && !less_(now, cost) && value < *best_);
    if (!is_better) return false;
    best_ = std::move(value);
    form_ = std::move(form);
    bound_.store(cost, std::memory_order_relaxed);
    return true;
  }

  const Cost initial_;
  std::atomic<Cost> bound_;  ///< Only written under the lock. no partner: the lock guards the value
  Less less_;
  mutable std::mutex lock_;
  std::optional<Value> best_;
  /// The cost and the value in bytes; empty without a solution. Encoded by the thread that offered the
  /// value, because an exception of the user's codec would end the thread that sends it.
  std::vector<std::byte> form_;
};

/// @}
}  // namespace sukima::cluster
