// SPDX-License-Identifier: Apache-2.0
// The optimiser of one VM. docs/host-optimiser.md draws its states.
//
// There are two counts: the resting count n, which is in effect unless a trial runs, and the count that the
// trial uses. A trial begins when the optimiser of all VMs gives this VM its turn. It ends by its verdict, by
// an event or by its deadline.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "optimise/candidates.hpp"
#include "optimise/change_cost.hpp"
#include "optimise/comparison.hpp"
#include "shared/optimiser.hpp"
#include "shared/sweep.hpp"

namespace sukima::host {

/// Not thread-safe. Times are in seconds and must not go back.
// Long: one method for each transition, all over the same state
class state_machine {
 public:
  /// \param verdicts the list to which it adds its verdicts; must outlive it
  state_machine(std::string name, optimiser_settings settings, std::vector<verdict>& verdicts);

  /// Processes a window. A window that is not settled, is not valid, has no rate, or was measured at a count
  /// other than the wanted one is not used to judge counts. Unsettled windows show the cost of a change.
  /// \param disturbed whether a trial of another VM of the group ran in the window, so that it may have
  /// changed the level
  void feed(const measured_window& window, bool disturbed = false);
  void feed(const vm_status& status);
  void feed(vm_event event, double at);
  void rename(std::string name, double at);
  /// Ends the running trial, if there is one, without a result.
  void void_trial(const std::string& reason, double at);

  /// Whether it waits for `begin_trial`.
  bool waits_for_turn() const { return waits_; }
  /// Begins the trial. If the estimate has moved and no candidate is left, it rests instead.
  /// \pre waits_for_turn()
  void begin_trial(double at);
  bool trial_runs() const { return trial_.has_value() || sweep_.has_value(); }

  optimiser_state state() const { return state_; }
  unsigned resting() const { return count_; }
  /// The count that should be in effect now.
  unsigned in_effect() const;
  /// The same count for the code that sets it; empty: set nothing.
  std::optional<unsigned> wanted() const;
  const std::string& name() const { return name_; }
  /// The first invariant that does not hold, as a sentence; null: all hold.
  const char* violated_invariant() const;

 private:
  // Evaluation of inputs.
  std::optional<double> rate_of(const measured_window& window) const;
  bool may_open(double at) const;
  bool must_close() const;
  bool estimate_has_moved() const;
  unsigned highest() const;
  unsigned visit() const;

  // Transitions.
  void open(double at, std::string reason);
  void close(double at, std::string reason);
  void go_back(double at, std::string reason);
  void begin_hold(double at, std::string reason);
  void begin_rest(double at, verdict_kind kind, std::string reason, const verdict_figures& figures);
  void learn_again(double at, bool cause);
  void leave_trial();
  void look_at_time(double at);
  void follow_estimate(double at);
  void limit_to_estimate(double at);

  // Actions within a state.
  void in_learn(const measured_window& window, double rate);
  void in_trial(const measured_window& window, double rate);
  void in_sweep(const measured_window& window, double rate);
  void in_rest(const measured_window& window, bool disturbed);
  void rest_moves(const vm_status& status);
  bool level_is_off(const measured_window& window) const;
  void set_level();
  void plan_trials(double at);
  void look_for_candidate(double at);
  void would_try(double at);
  void end_trial(double at, const comparison& done, comparison_outcome outcome);

  verdict_figures figures() const;
  void say(double at, verdict_kind kind, unsigned before, std::string reason,
           const verdict_figures& figures = {});

  std::string name_;
  const optimiser_settings settings_;
  std::vector<verdict>* verdicts_;
  optimiser_state state_ = optimiser_state::idle;
  unsigned count_ = 1;  ///< the resting count

  bool opted_in_ = false, ended_ = false, has_progress_ = false;
  bool has_status_ = false;
  vm_status status_;  ///< the latest one, if there was any
  double held_until_ = 0;  ///< no search begins before this time
  double back_until_ = 0;

  bool cause_ = true;  ///< whether the search has a cause: the program or the estimate has changed
  double searched_usable_ = 0;  ///< the estimate when this search, or the last one, began
  double noise_ = constants::unknown_noise;
  std::deque<double> learnt_;  ///< logarithms of the latest windows
  candidates search_{1, 1, 1};
  unsigned candidate_ = 0;  ///< the next count to try; 0: none
  unsigned before_search_ = 1;
  bool waits_ = false;
  std::optional<comparison> trial_;
  std::optional<sweep> sweep_;
  double trial_until_ = 0;
  change_cost cost_;
  std::uint64_t changes_before_ = 0;  ///< the value of `cost_.changes()` when the latest search began

  double rested_at_ = 0, look_again_ = 0;
  double rest_length_ = 0;  ///< seconds until the next search without a cause
  double least_rest_ = 0;  ///< seconds until the next search with a cause
  std::vector<measured_window> level_windows_;
  double level_progress_ = 0, level_use_ = 0;
  unsigned off_ = 0;
  friend struct test_access;
};

}  // namespace sukima::host
