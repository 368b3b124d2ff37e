// SPDX-License-Identifier: Apache-2.0
// Predicts the time of a run, from the simulation of a part of it or by the paper's formula.
#include "shared/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/carriers.hpp"
#include "model/simulation.hpp"
#include "shared/paper_formula.hpp"

namespace sukima::objects::model {
namespace {

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// The mean cost of the messages of some streams, weighted by their numbers, and the total number.
struct mean_cost {
  double count = 0, total_ns = 0;
  void add(double messages, const message_cost& cost) {
    count += messages;
    // On one CPU the sides take turns; on several CPUs the stream is as fast as the slower side.
    const double together = cost.sender_ns + cost.receiver_ns;
    total_ns += messages * (cost.cpus == 1 ? together : std::max(cost.sender_ns, cost.receiver_ns));
  }
  double mean() const { return count > 0 ? total_ns / count : 0; }
};

void set(paper_costs& costs, unit which, double value) {
  (which == unit::simulated ? costs.simulated : which == unit::thread ? costs.thread : costs.process) = value;
}

}  // namespace

std::string missing_costs(const cost_table& costs, execution_model model) {
  const model_parts parts = parts_of(model);
  for (const unit carrier : {parts.pipes ? unit::pipe : parts.between, parts.within}) {
    // With pipes no stream is carried by unit::process (carrier_of).
    if (parts.pipes && carrier == unit::process) continue;
    if (!costs.knows(carrier)) return "message " + std::string(name_of(carrier));
  }
  if (parts.within == unit::simulated && !costs.switch_ns) return "objects-switch";
  if (model != execution_model::simulated && !costs.same_cpu) return "objects-sleep same";
  return "";
}

prediction predict(const description& program, const configuration& how, const machine& where,
                   const effort& most) {
  const flow all = flow_of(program);
  const double computations = sum_of(all.activations);
  const double events = computations + sum_of(all.messages);
  prediction result;
  if (events == 0) {
    result.computing.resize(program.objects.size());
    result.blocked.resize(program.objects.size());
    result.full.resize(program.streams.size());
    return result;
  }
  // A tenth of the events is reserved, because rounding small numbers up adds some.
  const double part = std::min(1.0, 0.9 * static_cast<double>(most.events) / events);
  simulation run(program, all, how, where, part, most.seed);
  run.run(most);
  const batch_means::estimate mean = run.mean_time();
  const bool known = std::isfinite(mean.half_width);
  const double simulated = std::max(run.computations(), 1.0);
  // A recorded program did not wait for ever.
  result.stuck =
      !program.recorded && run.at_rest() && !run.finished() && simulated < 0.9 * part * computations;
  // A run that was simulated to its end counts as a whole, including its beginning and its end.
  const double each = run.at_rest() || !known ? run.now() / simulated : mean.mean;
  result.busy_cpus = run.now() > 0 ? run.busy_ns() / run.now() : 0;
  // If a quota or neighbours leave a fraction of a CPU, the program waits for the CPU time that it would use
  // beyond that.
  const double throttled = std::max(1.0, result.busy_cpus / where.cpus);
  result.busy_cpus /= throttled;
  result.time_ns = each * computations * throttled;
  result.spread_ns = known ? mean.half_width * computations * throttled : 0;
  result.events = run.events();
  for (std::size_t object = 0; object < program.objects.size(); object++) {
    result.computing.push_back(run.now() > 0 ? run.computing_ns(object) / run.now() : 0);
    result.blocked.push_back(run.now() > 0 ? run.blocked_ns(object) / run.now() : 0);
  }
  for (std::size_t stream = 0; stream < program.streams.size(); stream++) {
    result.full.push_back(run.full_part(stream));
  }
  return result;
}

double predict_by_paper(const description& program, const configuration& how, const machine& where) {
  const flow all = flow_of(program);
  const model_parts parts = parts_of(how.model);
  const auto groups = static_cast<double>(group_count(how, program.objects.size()));
  const double cpus = std::max(1.0, std::floor(where.cpus + 0.5));
  mean_cost between, within;
  for (std::size_t number = 0; number < program.streams.size(); number++) {
    const stream& one = program.streams[number];
    const message_cost cost =
        where.costs.of(carrier_of(one, how), one.bytes, static_cast<unsigned>(std::min(cpus, groups)));
    (is_within(one, how) ? within : between).add(all.messages[number], cost);
  }
  paper_costs costs;
  set(costs, parts.between, between.mean());
  // Under `simulated` no stream is between groups, and in other models without groups no stream is within
  // one.
  if (parts.within != parts.between || between.count == 0) set(costs, parts.within, within.mean());
  double main_ns = 0;
  for (std::size_t number = 0; number < program.objects.size(); number++)
    main_ns += all.activations[number] * program.objects[number].compute_ns;
  const double communication =
      paper_communication(how.model, costs, {between.count, within.count}, paper_divisor(cpus, groups));
  return communication + main_ns / std::min(std::max(where.cpus, 1e-3), groups);
}

}  // namespace sukima::objects::model
