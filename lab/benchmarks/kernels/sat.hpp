// SPDX-License-Identifier: Apache-2.0
// Counts the models of a random 3-SAT formula by the procedure of Davis, Putnam, Logemann and Loveland (M.
// Davis et al., CACM 1962): decide a variable, derive the forced values, backtrack. A branch ends at once or
// is most of the tree, and its depth does not indicate which.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/random.hpp"

namespace kernels {

/// A literal: twice its variable's number, plus one if it is negated.
using literal = std::uint32_t;
inline literal negation(literal l) { return l ^ 1; }

/// A formula of clauses with three different variables each.
struct formula {
  std::uint32_t variables;
  std::vector<std::array<literal, 3>> clauses;
  std::vector<std::vector<std::uint32_t>> with;  // the clauses that have a literal

  /// Makes a random formula: 3.2 clauses for each variable, so that it has many models and few partial ones
  /// are free.
  explicit formula(std::uint32_t count) : variables(count), with(2 * std::size_t{count}) {
    random_numbers random(1962);
    for (std::uint32_t i = 0; i < count * 16 / 5; ++i) {
      std::array<literal, 3> clause{};
      for (std::size_t k = 0; k < 3;) {
        const literal l = random.below(2 * std::uint64_t{count});
        bool is_new = true;
        for (std::size_t j = 0; j < k; ++j) is_new = is_new && clause[j] / 2 != l / 2;
        if (is_new) clause[k++] = l;
      }
      for (const literal l : clause) with[l].push_back(i);
      clauses.push_back(clause);
    }
  }
};

/// Variables with values, and for each clause the numbers of its true and of its free literals.
class partial_model {
 public:
  static constexpr literal none = ~literal{0};
  static constexpr std::uint32_t fewest_variables = 3;
  static constexpr std::uint32_t most_variables = 80;  // some 2^(0.4 · variables) models: fits in 64 bits

  explicit partial_model(const formula& f)
      : formula_(&f), is_set_(2 * std::size_t{f.variables}), state_(f.clauses.size(), {0, 3}) {}

  /// Returns a literal to decide: from a clause that is not yet true and has the fewest free literals; `none`
  /// if all clauses are true.
  [[nodiscard]] literal undecided() const {
    literal best = none;
    for (std::size_t i = 0; i < state_.size(); ++i) {
      if (state_[i].true_literals != 0) continue;
      if (best != none && state_[i].free_literals != 2) continue;
      for (const literal l : formula_->clauses[i])
        if (is_free(l)) {
          best = l;
          break;
        }
      if (state_[i].free_literals == 2) break;
    }
    return best;
  }
  /// Returns the number of models in which the variables with values keep them, if all clauses are true.
  [[nodiscard]] std::int64_t models() const {
    return std::int64_t{1} << (formula_->variables - static_cast<std::uint32_t>(trail_.size()));
  }
  /// Makes a free literal true, and all literals that follow from clauses with one free literal. \returns
  /// false, after undoing all changes, if a clause becomes false
  bool decide(literal l) {
    begins_.push_back(trail_.size());
    std::size_t followed = trail_.size();
    bool holds = set(l);
    for (; holds && followed < trail_.size(); ++followed)
      for (const std::uint32_t i : formula_->with[negation(trail_[followed])]) {
        const clause_state& s = state_[i];
        if (s.true_literals != 0 || s.free_literals > 1) continue;
        holds = s.free_literals == 1 && set(free_one(i));
        if (!holds) break;
      }
    if (!holds) go_back();
    return holds;
  }
  /// Undoes the last decision.
  void go_back() {
    for (; trail_.size() > begins_.back(); trail_.pop_back()) {
      const literal l = trail_.back();
      is_set_[l] = false;
      for (const std::uint32_t i : formula_->with[l]) {
        --state_[i].true_literals;
        ++state_[i].free_literals;
      }
      for (const std::uint32_t i : formula_->with[negation(l)]) ++state_[i].free_literals;
    }
    begins_.pop_back();
  }

 private:
  struct clause_state {
    std::uint8_t true_literals, free_literals;
  };

  [[nodiscard]] bool is_free(literal l) const { return is_set_[l] == 0 && is_set_[negation(l)] == 0; }
  [[nodiscard]] literal free_one(std::uint32_t clause) const {
    for (const literal l : formula_->clauses[clause])
      if (is_free(l)) return l;
    return none;
  }
  /// Sets a literal. Returns false if one of its clauses, which were all counted, has become false.
  bool set(literal l) {
    is_set_[l] = true;
    trail_.push_back(l);
    for (const std::uint32_t i : formula_->with[l]) {
      ++state_[i].true_literals;
      --state_[i].free_literals;
    }
    bool holds = true;
    for (const std::uint32_t i : formula_->with[negation(l)]) {
      --state_[i].free_literals;
      holds = holds && (state_[i].true_literals != 0 || state_[i].free_literals != 0);
    }
    return holds;
  }

  const formula* formula_;
  std::vector<std::uint8_t> is_set_;  // for each literal, 1 if it is true
  std::vector<clause_state> state_;  // of each clause
  std::vector<literal> trail_;  // true literals in the order in which they became true
  std::vector<std::size_t> begins_;  // the position in trail_ at which each decision begins
};

}  // namespace kernels
