// SPDX-License-Identifier: Apache-2.0
// How long runs will take; see expected_time.hpp.
#include "shared/expected_time.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <optional>

namespace sukima::lab {
namespace {

/// Seconds until the guests of an environment are up: a boot, and the delay of guests that boot at once
/// (measured with emulation: 2.6 s for one, 6.5 s for four).
constexpr double boot_seconds = 2.6, further_boot_seconds = 1.3;

double set_up_seconds(const environment& where) {
  return where.kind == environment_kind::vms ? boot_seconds + further_boot_seconds * (where.copies - 1) : 0;
}

template <class Thing>
std::size_t number_of(const std::vector<Thing>& all, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(all, name, &Thing::name) - all.begin());
}

}  // namespace

expected_times::expected_times(const experiment& experiment, const run_choice& choice, unsigned cpus,
                               const std::vector<record>& records)
    : settings_(experiment.settings.size()),
      environments_(experiment.environments.size()),
      limit_(experiment.limit_seconds),
      cells_(experiment.programs.size() * settings_ * environments_) {
  const auto taken = [&](const auto& all) {
    return std::ranges::count_if(all, [&](const auto& one) { return choice.takes(one); });
  };
  const auto cells_of_one = static_cast<double>(
      std::max<std::ptrdiff_t>(1, taken(experiment.programs) * taken(experiment.settings)));
  for (std::size_t p = 0; p < experiment.programs.size(); ++p) {
    const program& of = experiment.programs[p];
    const std::optional<double> alone = choice.quick && of.quick_seconds ? of.quick_seconds : of.seconds;
    for (std::size_t s = 0; s < settings_; ++s) {
      for (std::size_t e = 0; e < environments_; ++e) {
        const environment& where = experiment.environments[e];
        known& one = cells_[index_of({p, s, e})];
        one.guess = alone ? std::min(limit_, *alone * target_factor(where, cpus)) : limit_;
        one.set_up = set_up_seconds(where) / cells_of_one;
      }
    }
  }
  for (const record& one : records) {
    const cell of{number_of(experiment.programs, one.program), number_of(experiment.settings, one.setting),
                  number_of(experiment.environments, one.environment)};
    if (one.experiment == experiment.name && one.failure.empty() && of.program < experiment.programs.size() &&
        of.setting < settings_ && of.environment < environments_)
      add(of, one.wall_seconds);
  }
}

std::size_t expected_times::index_of(const cell& one) const {
  SUKIMA_ASSERT(one.setting < settings_ && one.environment < environments_,
                "a cell is one of the experiment's settings and environments");
  const std::size_t index = (one.program * settings_ + one.setting) * environments_ + one.environment;
  SUKIMA_ASSERT(index < cells_.size(), "a cell is one of the experiment's programs");
  return index;
}

double expected_times::of(const cell& one) const {
  const known& here = cells_[index_of(one)];
  return here.runs > 0 ? here.seconds / static_cast<double>(here.runs) : here.guess + here.set_up;
}

double expected_times::most_of(const cell& one) const { return limit_ + cells_[index_of(one)].set_up; }

void expected_times::add(const cell& one, double seconds) {
  known& here = cells_[index_of(one)];
  here.seconds += seconds;
  ++here.runs;
}

}  // namespace sukima::lab
