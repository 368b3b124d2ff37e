// SPDX-License-Identifier: Apache-2.0
// The state machine at rest: it watches for a reason to search again.
#include <algorithm>
#include <cmath>
#include <utility>

#include "optimise/state_machine.hpp"
#include "optimise/statistics.hpp"

namespace sukima::host {

namespace {

/// log(value / level)|; 0 without a level.
double distance(double value, double level) {
  static constexpr double least = 1e-9;
  return level > 0 ? std::abs(std::log(std::max(value, least) / level)) : 0;
}

}  // namespace

void state_machine::begin_rest(double at, verdict_kind kind, std::string reason,
                               const verdict_figures& figures) {
  const unsigned before = before_search_;
  // A search pays if its gain until the next search is larger than the cost of its changes.
  const double price = static_cast<double>(cost_.changes() - changes_before_) * cost_.seconds();
  rest_length_ =
      count_ != before_search_ ? constants::first_rest : std::min(constants::longest_rest, rest_length_ * 2);
  rest_length_ = std::max(rest_length_, price / constants::search_part);
  least_rest_ = std::max(constants::first_rest, price / constants::caused_search_part);
  leave_trial();
  candidate_ = 0;
  cause_ = false;
  state_ = optimiser_state::rest;
  rested_at_ = at;
  level_windows_.clear();
  off_ = 0;
  say(at, kind, before, std::move(reason), figures);
}

void state_machine::set_level() {
  std::vector<double> progress, use;
  for (const measured_window& one : level_windows_) {
    use.push_back(one.use);
    if (one.progress) progress.push_back(*one.progress);
  }
  level_use_ = median(std::move(use));
  level_progress_ = progress.empty() ? 0 : median(std::move(progress));
}

bool state_machine::level_is_off(const measured_window& window) const {
  const double most = std::max(constants::level_moved, constants::level_errors * noise_);
  if (distance(window.use, level_use_) > most) return true;
  return settings_.by == optimise_by::progress &&
         distance(window.progress.value_or(0), level_progress_) > most;
}

void state_machine::in_rest(const measured_window& window, bool disturbed) {
  if (level_windows_.size() < constants::level_windows) {
    level_windows_.push_back(window);
    if (level_windows_.size() < constants::level_windows) return;
    set_level();
    look_again_ = window.at + rest_length_;
    return;
  }
  // A trial of another VM may shift the level of this VM, which is not a cause to search.
  if (!disturbed) off_ = level_is_off(window) ? off_ + 1 : off_ - std::min(off_, 1U);
  if (off_ >= constants::level_lasts && window.at > rested_at_ + least_rest_)
    return open(window.at, "the level has changed");
  if (settings_.by == optimise_by::progress && window.at > look_again_) learn_again(window.at, false);
}

/// When the VM is optimised by use, the count follows the estimate at once. A new search waits for 30 s, or
/// until the last search has paid, so that an estimate that changes all the time does not cause continuous
/// searches.
void state_machine::rest_moves(const vm_status& status) {
  if (!estimate_has_moved()) return;
  if (status.at > rested_at_ + least_rest_) return open(status.at, "the estimate moved");
  if (settings_.by != optimise_by::use || settings_.dry_run || count_ == status.count) return;
  follow_estimate(status.at);
  level_windows_.clear();
  off_ = 0;
}

}  // namespace sukima::host
