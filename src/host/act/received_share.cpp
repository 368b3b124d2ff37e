// SPDX-License-Identifier: Apache-2.0
// Measures what a machine receives; see received_share.hpp.
#include "act/received_share.hpp"

#include <algorithm>

namespace sukima::host {
namespace {

/// Seconds for which a machine must receive too little before the limit begins.
constexpr double judged_seconds = 10;
/// Estimates are accurate to this part of a share. A smaller difference does not show other load.
constexpr double slack = 0.1;
/// The shortest and the longest time without waiting, in seconds, after which the limit is dropped for a
/// trial.
constexpr double first_pause = 30, longest_pause = 600;
/// If a limit begins within this many seconds after a trial began, the trial has failed.
constexpr double trial_seconds = 30;

}  // namespace

void received_share::update(double now, double seconds, double share, const ran_and_waited& done) {
  if (seconds <= 0) return;
  remember(seconds, done.ran);
  // A machine that runs fewer vCPUs than its share allows wants only the CPUs for those.
  const double wanted = std::min(share, (done.ran + done.waited) / seconds);
  const bool is_short = waits_for_cpu(done, seconds) && done.ran / seconds < wanted * (1 - slack);
  short_for_ = is_short ? short_for_ + seconds : 0;
  if (limit_)
    follow(now, seconds, share, is_short);
  else if (short_for_ >= judged_seconds)
    begin(now);
}

void received_share::remember(double seconds, double ran) {
  latest_.push_back({seconds, ran});
  double all = 0;
  for (const interval& one : latest_) all += one.seconds;
  while (latest_.size() > 1 && all - latest_.front().seconds >= judged_seconds) {
    all -= latest_.front().seconds;
    latest_.pop_front();
  }
}

double received_share::mean() const {
  double seconds = 0, ran = 0;
  for (const interval& one : latest_) {
    seconds += one.seconds;
    ran += one.ran;
  }
  return seconds > 0 ? ran / seconds : 0;
}

void received_share::begin(double now) {
  const bool trial_failed = dropped_at_ && now - *dropped_at_ < trial_seconds;
  pause_ = trial_failed ? std::min(2 * pause_, longest_pause) : first_pause;
  dropped_at_.reset();
  limit_ = mean();
  short_at_ = now;
}

void received_share::follow(double now, double seconds, double share, bool is_short) {
  if (is_short) short_at_ = now;
  // A machine that does not wait could use more than it did, so then the limit only rises.
  limit_ = short_for_ >= judged_seconds ? mean() : std::max(*limit_, mean());
  const bool has_share = *limit_ >= share * (1 - slack);
  const bool is_trial = now - short_at_ >= pause_ - seconds / 2;
  if (!has_share && !is_trial) return;
  limit_.reset();
  short_for_ = 0;
  if (!has_share) dropped_at_ = now;
}

}  // namespace sukima::host
