// SPDX-License-Identifier: Apache-2.0
#include "optimise/neighbour_guard.hpp"

#include <algorithm>
#include <cmath>

#include "optimise/constants.hpp"
#include "optimise/statistics.hpp"

namespace sukima::host {

namespace {

/// The squared standard error of the mean.
double squared_error(const std::vector<double>& of, double noise) {
  const double each = std::max(noise, deviation(of));
  return each * each / static_cast<double>(of.size());
}

void remember(std::deque<double>& shares, double share) {
  shares.push_back(share);
  if (shares.size() > constants::guard_windows) shares.pop_front();
}

}  // namespace

bool neighbour_guard::has_fallen(const history& of, const std::vector<double>& tried) const {
  if (of.resting.empty()) return false;
  const double noise = of.before.size() < constants::learn_windows
                           ? constants::unknown_noise
                           : noise_of({of.before.begin(), of.before.end()});
  const double fall = robust_mean(of.resting) - robust_mean(tried);
  if (fall <= constants::guard_fall) return false;
  // Each window of the trial and each neighbour is another chance of a false alarm. Raise z so that e^(-z²/2)
  // falls in the same proportion.
  const double chances = static_cast<double>(histories_.size()) * constants::most_pairs;
  const double errors = std::sqrt(constants::guard_errors * constants::guard_errors + 2 * std::log(chances));
  return fall > errors * std::sqrt(squared_error(of.resting, noise) + squared_error(tried, noise));
}

void neighbour_guard::resting(std::size_t neighbour, double share) {
  if (share > 0) remember(histories_[neighbour].before, std::log(share));
}

bool neighbour_guard::trial(std::size_t neighbour, unsigned count, bool at_rest, double share) {
  if (!(share > 0)) return false;
  history& known = histories_[neighbour];
  std::vector<double>& windows = at_rest ? known.resting : known.tried[count];
  windows.push_back(std::log(share));
  return !at_rest && has_fallen(known, windows);
}

void neighbour_guard::end_trial() {
  for (auto& [neighbour, known] : histories_) {
    for (const double share : known.resting) remember(known.before, share);
    known.resting.clear();
    known.tried.clear();
  }
}

}  // namespace sukima::host
