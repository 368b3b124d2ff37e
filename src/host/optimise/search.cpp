// SPDX-License-Identifier: Apache-2.0
// The state machine in the states learn, try and sweep.
#include <fmt/format.h>
#include <base/shared/assert.hpp>

#include <algorithm>
#include <cmath>

#include "optimise/state_machine.hpp"
#include "optimise/statistics.hpp"

namespace sukima::host {

namespace {

std::string sentence(const comparison& done, comparison_outcome outcome) {
  const double change = 100 * (std::exp(done.mean()) - 1);
  switch (outcome) {
    case comparison_outcome::better:
      return fmt::format("{} is {:.1f} % faster than {}", done.other(), change, done.resting());
    case comparison_outcome::worse:
      return fmt::format("{} is {:.1f} % slower than {}", done.other(), -change, done.resting());
    case comparison_outcome::same:
      break;
  }
  return fmt::format("{} is no better than {} ({:+.1f} %)", done.other(), done.resting(), change);
}

}  // namespace

/// Measures the noise by the latest six windows, also while the VM waits for its turn.
void state_machine::in_learn(const measured_window& window, double rate) {
  learnt_.push_back(std::log(rate));
  if (learnt_.size() < constants::learn_windows) return;
  if (learnt_.size() > constants::learn_windows) learnt_.pop_front();
  noise_ = noise_of({learnt_.begin(), learnt_.end()});
  if (!waits_) plan_trials(window.at);
}

/// Plans the trials once the noise is known.
void state_machine::plan_trials(double at) {
  searched_usable_ = status_.usable;
  if (settings_.dry_run) return would_try(at);
  before_search_ = count_;
  if (settings_.by == optimise_by::use) {
    waits_ = highest() > count_;
    if (!waits_) begin_rest(at, verdict_kind::rested, "no count above the estimate may be tried", figures());
    return;
  }
  search_ = candidates(count_, status_.count, highest(), settings_.least);
  look_for_candidate(at);
}

/// Chooses the next candidate, which waits for its turn. If there is none, the search ends.
void state_machine::look_for_candidate(double at) {
  if (estimate_has_moved()) {  // the new estimate is a candidate, and all counts may be tried again
    cause_ = true;
    searched_usable_ = status_.usable;
    search_ = candidates(count_, status_.count, highest(), settings_.least);
  }
  candidate_ = search_.next().value_or(0);
  waits_ = candidate_ != 0;
  if (!waits_)
    begin_rest(
        at, verdict_kind::rested,
        count_ == before_search_ ? "no other count is better" : "this count is the best that was tried",
        figures());
}

void state_machine::would_try(double at) {
  std::optional<unsigned> first;
  verdict_figures evidence = figures();
  if (settings_.by == optimise_by::use) {
    const unsigned from = status_.count;
    if (from < highest()) first = std::min(highest(), from + constants::sweep_ahead);
  } else {
    first = candidates(count_, status_.count, highest(), settings_.least).next();
  }
  evidence.tried = first;
  evidence.noise = noise_;
  begin_rest(
      at, verdict_kind::would_try,
      first ? fmt::format("a dry run; it would try {} first", *first) : "a dry run; it would try nothing",
      evidence);
}

void state_machine::begin_trial(double at) {
  SUKIMA_ASSERT(waits_, "a trial begins at its turn");
  SUKIMA_ASSERT_VALID_AT_END(*this);
  if (candidate_ != 0 && estimate_has_moved()) {
    look_for_candidate(at);
    if (!waits_) return;
  }
  waits_ = false;
  double windows = 0;
  if (settings_.by == optimise_by::use) {
    state_ = optimiser_state::sweep;
    sweep_.emplace(count_, std::min(highest(), count_ + constants::sweep_ahead), constants::with_cause.effect,
                   visit());
    windows = constants::most_rounds * (constants::sweep_ahead + 1);
  } else {
    state_ = optimiser_state::trial;
    trial_.emplace(count_, candidate_, cause_ ? constants::with_cause : constants::at_rest, noise_, visit());
    windows = 2 * constants::most_pairs * visit();
  }
  trial_until_ =
      at + windows * (settings_.window_seconds + settings_.settle_seconds) * constants::trial_slack;
}

void state_machine::in_trial(const measured_window& window, double rate) {
  if (!trial_) return;  // it still waits for its turn
  if (const auto outcome = trial_->add(std::log(rate))) end_trial(window.at, *trial_, *outcome);
}

void state_machine::end_trial(double at, const comparison& done, comparison_outcome outcome) {
  const bool better = outcome == comparison_outcome::better;
  const verdict_kind kind = better                                 ? verdict_kind::better
                            : outcome == comparison_outcome::worse ? verdict_kind::worse
                                                                   : verdict_kind::same;
  const verdict_figures evidence = figures();
  std::string reason = sentence(done, outcome);
  const unsigned before = count_;
  if (better) count_ = done.other();
  trial_.reset();  // this destroys `done`
  search_.judged(better);
  say(at, kind, before, std::move(reason), evidence);
  look_for_candidate(at);
}

void state_machine::in_sweep(const measured_window& window, double rate) {
  if (!sweep_) return;
  class sweep& curve = *sweep_;
  if (!curve.add(std::log(rate))) return;
  static constexpr const char* names[] = {"is too noisy to judge", "is flat", "rises", "drops", "oscillates"};
  verdict_figures evidence = figures();
  const sweep::result found = curve.shape();
  evidence.shape = found.shape;
  evidence.tried = found.count;
  evidence.mean = found.height;
  std::string reason = fmt::format("the CPU use above the estimate {}", names[found.shape]);
  count_ = found.count;
  sweep_.reset();
  begin_rest(window.at, verdict_kind::swept, std::move(reason), evidence);
}

}  // namespace sukima::host
