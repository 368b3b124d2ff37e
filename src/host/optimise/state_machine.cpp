// SPDX-License-Identifier: Apache-2.0
// The transitions between states. search.cpp and resting.cpp contain what happens within a state.
#include "optimise/state_machine.hpp"

#include <fmt/format.h>
#include <base/shared/assert.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sukima::host {

state_machine::state_machine(std::string name, optimiser_settings settings, std::vector<verdict>& verdicts)
    : name_(std::move(name)), settings_(std::move(settings)), verdicts_(&verdicts) {}

const char* state_machine::violated_invariant() const {
  const bool searches = state_ == optimiser_state::learn || state_ == optimiser_state::trial ||
                        state_ == optimiser_state::sweep;
  if (trial_ && sweep_) return "a VM has one trial at most";
  if (trial_ && state_ != optimiser_state::trial) return "two counts are compared in the state trial only";
  if (sweep_ && state_ != optimiser_state::sweep) return "a sweep runs in the state sweep only";
  if (waits_ && (!searches || trial_runs())) return "only a search without a trial waits for its turn";
  if (waits_ && settings_.by == optimise_by::progress && candidate_ == 0)
    return "a search that waits for its turn has a candidate";
  if (candidate_ != 0 && (candidate_ < settings_.least || candidate_ > settings_.most))
    return "a candidate is within the bounds of the VM";
  if ((searches || state_ == optimiser_state::rest) && (!opted_in_ || ended_ || !has_status_))
    return "only a live, opted-in VM with an estimate is optimised";
  if (has_status_ && !settings_.dry_run && (count_ < settings_.least || count_ > settings_.most))
    return "the resting count is within the bounds of the VM";
  if (learnt_.size() > constants::learn_windows || level_windows_.size() > constants::level_windows)
    return "only the last windows are kept";
  return nullptr;
}

unsigned state_machine::in_effect() const {
  if (trial_) return trial_->next();
  if (sweep_) return sweep_->next();
  return count_;
}

std::optional<unsigned> state_machine::wanted() const {
  if (!opted_in_ || ended_ || settings_.dry_run || !has_status_) return std::nullopt;
  return in_effect();
}

/// The highest count that a trial may use.
unsigned state_machine::highest() const {
  return settings_.above_estimate ? settings_.most : std::min(settings_.most, status_.count);
}

/// The number of consecutive windows that a trial measures at one count. It grows with the cost of a change.
unsigned state_machine::visit() const {
  const double least = cost_.seconds() / (2 * constants::change_part * settings_.window_seconds);
  return static_cast<unsigned>(std::clamp<double>(std::ceil(least), 1, constants::longest_visit));
}

/// The rate in the window; empty if the window does not count.
std::optional<double> state_machine::rate_of(const measured_window& window) const {
  if (!window.valid || !window.settled) return std::nullopt;
  if (!settings_.dry_run && window.count != in_effect()) return std::nullopt;
  const double rate = settings_.by == optimise_by::use ? window.use : window.progress.value_or(0);
  if (!(rate > 0) || !std::isfinite(rate)) return std::nullopt;
  return rate;
}

bool state_machine::may_open(double at) const {
  return opted_in_ && !ended_ && has_status_ && at >= held_until_ &&
         status_.demand > constants::demand_to_open && status_.up >= constants::up_to_open &&
         (settings_.by == optimise_by::use || has_progress_);
}

bool state_machine::must_close() const {
  return has_status_ && (status_.demand <= constants::demand_to_close || status_.up < constants::up_to_open);
}

bool state_machine::estimate_has_moved() const {
  return has_status_ && std::abs(status_.usable - searched_usable_) >= constants::estimate_moved;
}

void state_machine::feed(const measured_window& window, bool disturbed) {
  SUKIMA_ASSERT_VALID_AT_END(*this);
  if (ended_) return;
  if (window.progress && *window.progress > 0) has_progress_ = true;
  cost_.update(window);
  if (settings_.dry_run && window.valid && window.count >= 1) count_ = std::min(window.count, settings_.most);
  look_at_time(window.at);
  const std::optional<double> rate = rate_of(window);
  if (state_ == optimiser_state::back && window.valid && (settings_.dry_run || window.count == count_))
    return begin_hold(window.at, "the count is the estimate again");
  if (!rate) return;
  switch (state_) {
    case optimiser_state::learn:
      return in_learn(window, *rate);
    case optimiser_state::trial:
      return in_trial(window, *rate);
    case optimiser_state::sweep:
      return in_sweep(window, *rate);
    case optimiser_state::rest:
      return in_rest(window, disturbed);
    case optimiser_state::idle:
    case optimiser_state::back:
    case optimiser_state::hold:
      return;
  }
}

void state_machine::feed(const vm_status& given) {
  SUKIMA_ASSERT_VALID_AT_END(*this);
  if (ended_) return;
  vm_status status = given;
  status.count = std::clamp(status.count, settings_.least, settings_.most);
  if (!has_status_) count_ = status.count;
  has_status_ = true;
  status_ = status;
  look_at_time(status.at);
  if (must_close() && (state_ == optimiser_state::learn || state_ == optimiser_state::trial ||
                       state_ == optimiser_state::sweep || state_ == optimiser_state::rest))
    return close(status.at, status.up < constants::up_to_open ? "the guest has just started"
                                                              : "the VM wants hardly any CPU");
  limit_to_estimate(status.at);
  switch (state_) {
    case optimiser_state::idle:
    case optimiser_state::back:
    case optimiser_state::hold:
      return follow_estimate(status.at);
    case optimiser_state::rest:
      return rest_moves(status);
    case optimiser_state::learn:
    case optimiser_state::sweep:
      // A sweep begins at the estimate, so another estimate needs another sweep. In the state trial, the
      // search reacts when the trial has ended.
      if (settings_.by == optimise_by::use && estimate_has_moved()) {
        void_trial("the estimate moved", status.at);
        follow_estimate(status.at);
        learn_again(status.at, true);
      }
      return;
    case optimiser_state::trial:
      return;
  }
}

/// Lowers the count together with the estimate if counts above the estimate are not allowed.
void state_machine::limit_to_estimate(double at) {
  if (settings_.above_estimate || settings_.dry_run) return;
  if (state_ != optimiser_state::learn && state_ != optimiser_state::trial && state_ != optimiser_state::rest)
    return;
  if (std::max(count_, trial_ ? trial_->other() : 0U) <= status_.count) return;
  void_trial("the estimate fell below the count", at);
  if (count_ > status_.count) follow_estimate(at);
  learn_again(at, true);
}

/// Sets the count to the estimate outside a search; a dry run does not change the count.
void state_machine::follow_estimate(double at) {
  if (!has_status_ || settings_.dry_run || count_ == status_.count) return;
  const unsigned before = std::exchange(count_, status_.count);
  if (opted_in_)
    say(at, verdict_kind::followed, before, fmt::format("{:.3g} CPUs are usable", status_.usable));
}

void state_machine::feed(vm_event event, double at) {
  SUKIMA_ASSERT_VALID_AT_END(*this);
  if (ended_) return;
  look_at_time(at);
  switch (event) {
    case vm_event::opted_in:
      opted_in_ = true;
      return look_at_time(at);
    case vm_event::opted_out:
      if (state_ != optimiser_state::idle) close(at, "the operator opted it out");
      opted_in_ = false;
      return follow_estimate(at);
    case vm_event::ended:
      if (state_ != optimiser_state::idle) close(at, "the VM ended");
      ended_ = true;
      return;
    case vm_event::not_verified:
      if (state_ == optimiser_state::back) return begin_hold(at, "going back could not be verified either");
      if (state_ == optimiser_state::idle)
        return opted_in_ ? begin_hold(at, "an action could not be verified") : void();
      break;
    case vm_event::guest_silent:
      has_progress_ = false;
      break;
    case vm_event::paused:
    case vm_event::migrated:
    case vm_event::guard_fired:
      break;
  }
  if (state_ == optimiser_state::idle) return;
  if (state_ == optimiser_state::hold) {
    held_until_ = at + constants::hold_seconds;
    return;
  }
  if (state_ != optimiser_state::back) go_back(at, std::string(name_of(event)));
}

void state_machine::rename(std::string name, double at) {
  SUKIMA_ASSERT_VALID_AT_END(*this);
  if (ended_) return;
  const bool searches = state_ == optimiser_state::learn || state_ == optimiser_state::trial ||
                        state_ == optimiser_state::sweep;
  void_trial("the VM was renamed", at);
  name_ = std::move(name);
  if (searches) learn_again(at, cause_);
}

void state_machine::void_trial(const std::string& reason, double at) {
  if (!trial_runs()) return;
  verdict_figures evidence = figures();
  leave_trial();
  state_ = optimiser_state::learn;
  say(at, verdict_kind::voided, count_, reason, evidence);
  learn_again(at, cause_);
}

void state_machine::leave_trial() {
  trial_.reset();
  sweep_.reset();
  waits_ = false;
}

/// Makes the transitions that depend only on time.
void state_machine::look_at_time(double at) {
  if (trial_runs() && at > trial_until_)
    return go_back(at, "too few windows could be used until the trial's deadline");
  if (state_ == optimiser_state::back && at > back_until_)
    return begin_hold(at, "the count did not become the estimate");
  if (state_ == optimiser_state::hold && at >= held_until_) {
    return may_open(at) ? open(at, "held long enough") : close(at, "held long enough");
  }
  if (state_ == optimiser_state::idle && may_open(at)) open(at, "opted in, and it wants CPU");
}

void state_machine::open(double at, std::string reason) {
  rest_length_ = constants::first_rest;
  learn_again(at, true);
  say(at, verdict_kind::opened, count_, std::move(reason), figures());
}

/// Leaves any state and begins to measure; the search follows.
void state_machine::learn_again(double at, bool cause) {
  leave_trial();
  candidate_ = 0;
  learnt_.clear();
  cause_ = cause;
  state_ = optimiser_state::learn;
  if (settings_.by == optimise_by::use) follow_estimate(at);
  before_search_ = count_;
  changes_before_ = cost_.changes();
  searched_usable_ = has_status_ ? status_.usable : searched_usable_;
}

void state_machine::close(double at, std::string reason) {
  void_trial(reason, at);
  leave_trial();
  state_ = optimiser_state::idle;
  const unsigned before = count_;
  if (has_status_ && !settings_.dry_run) count_ = status_.count;
  say(at, verdict_kind::idled, before, std::move(reason));
}

void state_machine::go_back(double at, std::string reason) {
  void_trial(reason, at);
  leave_trial();
  state_ = optimiser_state::back;
  back_until_ = at + constants::back_deadline;
  const unsigned before = count_;
  if (has_status_ && !settings_.dry_run) count_ = status_.count;
  say(at, verdict_kind::back, before, std::move(reason), figures());
}

void state_machine::begin_hold(double at, std::string reason) {
  state_ = optimiser_state::hold;
  held_until_ = at + constants::hold_seconds;
  say(at, verdict_kind::held, count_, std::move(reason));
}

verdict_figures state_machine::figures() const {
  verdict_figures all;
  if (has_status_) all.usable = status_.usable;
  if (state_ == optimiser_state::idle || state_ == optimiser_state::learn) return all;
  all.noise = noise_;
  if (cost_.seconds() > 0) all.cost = cost_.seconds();
  if (trial_) {
    all.tried = trial_->other();
    all.windows = trial_->pairs();
    all.effect = trial_->by().effect;
    all.errors = trial_->by().errors;
    if (trial_->pairs() > 0) {
      all.mean = trial_->mean();
      all.error = trial_->error();
    }
  }
  if (sweep_) {
    all.windows = sweep_->rounds();
    all.error = sweep_->error();
    all.effect = constants::with_cause.effect;
  }
  return all;
}

void state_machine::say(double at, verdict_kind kind, unsigned before, std::string reason,
                        const verdict_figures& figures) {
  verdicts_->push_back(
      {at, name_, settings_.quantity, before, count_, std::move(reason), kind, state_, figures});
}

}  // namespace sukima::host
