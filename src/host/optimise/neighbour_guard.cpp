// SPDX-License-Identifier: Apache-2.0
#include "optimise/neighbour_guard.hpp"

#include <algorithm>
#include <cmath>

#include "optimise/constants.hpp"
#include "optimise/statistics.hpp"

namespace sukima::host {

namespace {

/// Whether the mean of `tried` lies that far below that of `resting`.
bool has_fallen(const std::vector<double>& resting, const std::vector<double>& tried) {
  if (resting.size() < constants::fewest_pairs || tried.size() < constants::fewest_pairs) return false;
  const double fall = robust_mean(resting) - robust_mean(tried);
  const double least = constants::least_noise * constants::least_pair_noise;
  const double noise = std::max({least, deviation(resting), deviation(tried)});
  const auto part = [](const std::vector<double>& of) { return 1 / static_cast<double>(of.size()); };
  return fall > constants::guard_fall &&
         fall > constants::with_cause.errors * noise * std::sqrt(part(resting) + part(tried));
}

void remember(std::deque<double>& shares, double share) {
  shares.push_back(share);
  if (shares.size() > constants::guard_windows) shares.pop_front();
}

}  // namespace

void neighbour_guard::resting(std::size_t neighbour, double share) {
  if (share > 0) remember(shares_[neighbour].before, std::log(share));
}

bool neighbour_guard::trial(std::size_t neighbour, unsigned count, bool at_rest, double share) {
  if (!(share > 0)) return false;
  history& known = shares_[neighbour];
  if (at_rest) {
    known.resting.push_back(std::log(share));
    return false;
  }
  std::vector<double>& tried = known.tried[count];
  tried.push_back(std::log(share));
  std::vector<double> resting(known.before.begin(), known.before.end());
  resting.insert(resting.end(), known.resting.begin(), known.resting.end());
  return has_fallen(resting, tried);
}

void neighbour_guard::end_trial(unsigned resting_count) {
  for (auto& [neighbour, known] : shares_) {
    const auto moved = known.tried.find(resting_count);
    if (moved != known.tried.end()) known.before.clear();
    for (const double share : moved != known.tried.end() ? moved->second : known.resting)
      remember(known.before, share);
    known.resting.clear();
    known.tried.clear();
  }
}

}  // namespace sukima::host
