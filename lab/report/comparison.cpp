// SPDX-License-Identifier: Apache-2.0
// Compares the runs of a claim; see comparison.hpp.
#include "report/comparison.hpp"

#include <base/shared/assert.hpp>

#include <cmath>

#include "shared/verdict.hpp"

namespace sukima::lab {
namespace {

/// The samples of a side in an environment, one for each setting.
void add_samples(std::vector<sample>& to, const experiment& experiment, const side& from,
                 const std::string& program, const std::string& where, measure of, const measured& runs) {
  const environment& in = named(experiment.environments, from.environment.empty() ? where : from.environment);
  const double factor = of == measure::relative ? 1 : value_of(of, in, 1);
  for (const std::string& setting : from.settings)
    to.push_back({&runs.of(program, setting, in.name), &runs.least_of(program, setting, in.name), setting,
                  &in, factor});
}

/// The target times of each sample.
std::vector<sample> targets_of(const experiment& experiment, const std::vector<sample>& of,
                               const std::string& program, const measured& runs, unsigned cpus) {
  std::vector<sample> targets;
  for (const sample& one : of) {
    const environment& alone = named(experiment.environments, one.where->baseline);
    targets.push_back({&runs.of(program, one.setting, alone.name),
                       &runs.least_of(program, one.setting, alone.name), one.setting, &alone,
                       target_factor(*one.where, cpus)});
  }
  return targets;
}

std::vector<double> values_at(const sample& from, const std::vector<unsigned>& common) {
  std::vector<double> values;
  for (const unsigned round : common) values.push_back(from.cell->at(round) * from.factor);
  return values;
}

alternatives alternatives_at(const std::vector<sample>& from, const std::vector<unsigned>& common,
                             bool largest) {
  alternatives result{{}, largest};
  for (const sample& one : from) result.samples.push_back(values_at(one, common));
  return result;
}

/// The samples in which stopped runs count with the time limit.
std::vector<sample> at_least(std::vector<sample> all) {
  for (sample& one : all) one.cell = one.least;
  return all;
}

/// Measured times, each with its target times.
std::vector<sample_pair> pairs_at(const std::vector<sample>& measured, const std::vector<sample>& targets,
                                  const std::vector<unsigned>& common) {
  SUKIMA_ASSERT(measured.size() == targets.size(), "each measured time has a target");
  std::vector<sample_pair> pairs;
  for (std::size_t i = 0; i < measured.size(); ++i)
    pairs.push_back({values_at(measured[i], common), values_at(targets[i], common)});
  return pairs;
}

}  // namespace

std::vector<sample> comparison::all() const {
  std::vector<sample> together;
  for (const std::vector<sample>* const some : {&left, &right, &left_targets, &right_targets})
    together.insert(together.end(), some->begin(), some->end());
  return together;
}

std::vector<unsigned> comparison::common_rounds() const {
  const std::vector<sample> samples = all();
  SUKIMA_ASSERT(!samples.empty(), "a comparison has a sample");
  std::vector<unsigned> common;
  for (const auto& [round, unused] : *samples.front().cell)
    if (std::ranges::all_of(samples,
                            [&, number = round](const sample& one) { return one.cell->contains(number); }))
      common.push_back(round);
  return common;
}

bool comparison::has_stopped(const std::vector<unsigned>& common) const {
  return std::ranges::any_of(all(), [&](const sample& one) {
    return std::ranges::any_of(common, [&](unsigned round) { return std::isinf(one.cell->at(round)); });
  });
}

const std::string& comparison::worst_environment(const std::vector<unsigned>& common) const {
  std::size_t which = 0;
  double worst = 0;
  const std::vector<sample_pair> pairs = pairs_at(left, left_targets, common);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double ratio = median_of(pairs[i].over) / median_of(pairs[i].under);
    if (!(ratio > worst)) continue;
    worst = ratio;
    which = i;
  }
  return left[which].where->name;
}

comparison comparison_of(const experiment& experiment, const claim& of, const std::string& program,
                         const std::vector<std::string>& places, const measured& runs, unsigned cpus) {
  comparison result;
  for (const std::string& where : places)
    add_samples(result.left, experiment, of.left, program, where, of.of, runs);
  if (of.right) {
    const bool has_own = !of.right->environments.empty();
    const std::vector<std::string> right = has_own ? of.right->environments : std::vector{places.front()};
    for (const std::string& where : right)
      add_samples(result.right, experiment, *of.right, program, where, of.of, runs);
  }
  if (of.of == measure::relative) {
    result.left_targets = targets_of(experiment, result.left, program, runs, cpus);
    result.right_targets = targets_of(experiment, result.right, program, runs, cpus);
  }
  return result;
}

std::optional<interval> ratio_of(const claim& of, const comparison& sides,
                                 const std::vector<unsigned>& common) {
  SUKIMA_ASSERT(!common.empty(), "a ratio is of rounds in which both sides ran");
  if (of.of != measure::relative)
    return bootstrap_ratio(alternatives_at(sides.left, common, of.left.take == taking::worst),
                           alternatives_at(sides.right, common, of.right->take == taking::worst));
  const bool largest = of.worst || of.left.take == taking::worst;
  const std::vector<sample_pair> left = pairs_at(sides.left, sides.left_targets, common);
  if (!of.right) return bootstrap_extreme_ratio(left, largest);
  return bootstrap_ratio_of_extremes(left, pairs_at(sides.right, sides.right_targets, common), largest);
}

std::array<comparison, 2> extremes_of(const comparison& sides) {
  comparison smallest = sides, largest = sides;
  smallest.left = at_least(smallest.left);
  smallest.right_targets = at_least(smallest.right_targets);
  largest.right = at_least(largest.right);
  largest.left_targets = at_least(largest.left_targets);
  return {smallest, largest};
}

}  // namespace sukima::lab
