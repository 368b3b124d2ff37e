// SPDX-License-Identifier: Apache-2.0
// The planner: makes groups by METIS, and improves them by moves of single clusters and by larger streams. A
// short simulation judges each change. Then a long simulation predicts every model with its best grouping.
#include "shared/planner.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/carriers.hpp"
#include "model/grouping.hpp"

namespace sukima::objects::model {
namespace {

constexpr effort short_look = {.events = 50'000, .agreement = 0.02};
constexpr int most_moves = 120;
constexpr double worth_a_move = 0.99, worth_a_capacity = 0.98;  // largest part of the earlier time
constexpr std::size_t most_planned_capacity = 65536;
constexpr double least_spread = 0.01;  // of a prediction, because its simulation ends at this agreement
/// The relative uncertainty between the times of models with different numbers of threads and processes.
/// There were 24 configurations of the paper's program in which the predicted gain by another CPU was smaller
/// than this. In these a loss was as frequent as a gain, and up to eightfold, because the time of messages
/// between CPUs differs from run to run.
constexpr double spread_between_cpus = 0.3;

class planner {
 public:
  planner(const description& program, const plan_request& request)
      : program_(program),
        request_(request),
        all_(flow_of(program)),
        clusters_(clusters_of(program, false)),
        clusters_of_processes_(clusters_of(program, true)) {}

  plan make() {
    if (std::accumulate(all_.activations.begin(), all_.activations.end(), 0.0) == 0)
      throw description_error(
          "no object computes, so there is nothing to plan: give an object 'starts' or 'activations' above "
          "0");
    plan result;
    for (const execution_model model : all_models) {
      const std::string reason = reason_against(model);
      if (reason.empty()) {
        result.ranking.push_back(best_of(model));
      } else {
        result.left_out.push_back({model, reason});
      }
    }
    if (result.ranking.empty()) {
      throw description_error("no model can run this program here: " + std::string(name_of(all_models[0])) +
                              ": " + result.left_out.front().reason);
    }
    const auto order = [&](const candidate& one) { return std::pair(time_of(one), one.how.model); };
    std::sort(result.ranking.begin(), result.ranking.end(),
              [&](const auto& a, const auto& b) { return order(a) < order(b); });
    choose(result);
    SUKIMA_ASSERT_VALID(result);
    return result;
  }

 private:
  double time_of(const prediction& one) const { return one.stuck ? INFINITY : one.time_ns; }
  double time_of(const candidate& one) const {
    return request_.by_paper ? one.paper_ns : time_of(one.simulated);
  }
  double quick_time(const configuration& how) const {
    return request_.by_paper ? predict_by_paper(program_, how, request_.where)
                             : time_of(predict(program_, how, request_.where, short_look));
  }

  /// Returns the reason why the model is left out; empty if it is not.
  std::string reason_against(execution_model model) const {
    const model_parts parts = parts_of(model);
    const std::string missing = missing_costs(request_.where.costs, model);
    if (!missing.empty()) return "the machine profile has no line '" + missing + "'";
    if (parts.grouped && cluster_count(model) < 2) return "all objects are one group";
    for (const stream& one : program_.streams) {
      if (one.local && model == execution_model::processes) return "the stream '" + one.name + "' is local";
    }
    for (const object& one : program_.objects) {
      if (one.unit && one.unit != parts.between && one.unit != parts.within)
        return "the object '" + one.name + "' requires the unit " + std::string(name_of(*one.unit));
    }
    return "";
  }

  const std::vector<std::size_t>& clusters(execution_model model) const {
    return parts_of(model).between == unit::process ? clusters_of_processes_ : clusters_;
  }
  std::size_t cluster_count(execution_model model) const {
    const std::vector<std::size_t>& all = clusters(model);
    return *std::max_element(all.begin(), all.end()) + 1;
  }

  /// Returns the numbers of groups to try: all small ones, then each a third larger than the one before.
  std::vector<std::size_t> group_counts(execution_model model) const {
    const std::size_t most = std::min<std::size_t>(cluster_count(model), 2 * whole_cpus(request_.where.cpus));
    std::vector<std::size_t> counts;
    for (std::size_t count = 2; count <= most; count += std::max<std::size_t>(1, count / 3)) {
      counts.push_back(count);
    }
    if (counts.empty()) counts.push_back(2);
    return counts;
  }

  candidate best_of(execution_model model) const {
    candidate best;
    best.how.model = model;
    for (const stream& one : program_.streams) best.how.capacities.push_back(one.capacity);
    if (parts_of(model).grouped) {
      choose_groups(best.how);
    } else {
      best.how.groups.resize(program_.objects.size());
      const bool alone = model != execution_model::simulated;
      if (alone) std::iota(best.how.groups.begin(), best.how.groups.end(), 0);
    }
    if (!request_.by_paper) enlarge(best.how);
    best.simulated = predict(program_, best.how, request_.where);
    best.paper_ns = predict_by_paper(program_, best.how, request_.where);
    best.units = units_of(best.how);
    return best;
  }

  void choose_groups(configuration& how) const {
    double best = INFINITY;
    std::vector<std::size_t> groups;
    for (const std::size_t count : group_counts(how.model)) {
      how.groups = group(program_, all_, clusters(how.model), count);
      const double time = quick_time(how);
      if (groups.empty() || time < best) {
        best = time;
        groups = how.groups;
      }
    }
    how.groups = groups;
    if (!request_.by_paper) move_clusters(how, best);
  }

  /// Moves clusters to the groups of their neighbours while that saves time. The order is fixed.
  void move_clusters(configuration& how, double time) const {
    const std::vector<std::size_t>& together = clusters(how.model);
    int moves = 0;
    for (const stream& one : program_.streams) {
      for (const auto& [object, to] : {std::pair(one.senders.front(), one.receivers.front()),
                                       std::pair(one.receivers.front(), one.senders.front())}) {
        if (how.groups[object] == how.groups[to]) continue;
        if (moves++ == most_moves / 4) return;
        configuration moved = how;
        for (std::size_t i = 0; i < together.size(); i++) {
          if (together[i] == together[object]) moved.groups[i] = how.groups[to];
        }
        renumber(moved.groups);
        const double after = quick_time(moved);
        if (after >= worth_a_move * time) continue;
        how = moved;
        time = after;
      }
    }
  }

  /// Doubles the capacities while that saves time and memory is sufficient.
  void enlarge(configuration& how) const {
    const std::vector<std::size_t> declared = how.capacities;
    double time = quick_time(how);
    for (;;) {
      configuration larger = how;
      double bytes = 0;
      for (std::size_t i = 0; i < larger.capacities.size(); i++) {
        larger.capacities[i] =
            std::max(how.capacities[i], std::min(2 * how.capacities[i], most_planned_capacity));
        bytes += static_cast<double>(larger.capacities[i]) * static_cast<double>(program_.streams[i].bytes);
      }
      if (bytes > request_.most_bytes || larger.capacities == how.capacities) {
        if (std::isinf(time)) how.capacities = declared;
        return;
      }
      const double after = quick_time(larger);
      // A program that never ends may need a larger capacity.
      if (!(after < worth_a_capacity * time) && !std::isinf(after)) return;
      how = larger;
      time = after;
    }
  }

  std::size_t units_of(const configuration& how) const {
    const std::size_t groups = group_count(how, program_.objects.size());
    const model_parts parts = parts_of(how.model);
    const std::size_t threads = parts.island_each ? program_.objects.size() : groups;
    if (how.model == execution_model::workers_simulated)
      return std::min<std::size_t>(groups, whole_cpus(request_.where.cpus));
    return parts.between == unit::process ? threads + groups - 1 : threads;
  }

  /// Chooses among the candidates that tie with the first one: the one with the fewest units.
  void choose(plan& result) const {
    const auto spread = [&](const candidate& one) {
      return std::max(one.simulated.spread_ns, least_spread * one.simulated.time_ns);
    };
    const auto is_tie = [&](const candidate& first, const candidate& next) {
      if (request_.by_paper) return time_of(next) <= time_of(first);
      const double known = next.units != first.units ? spread_between_cpus * time_of(first) : 0;
      return time_of(next) - time_of(first) <= std::max({spread(first), spread(next), known});
    };
    const candidate& first = result.ranking.front();
    while (result.tied < result.ranking.size()) {
      const candidate& next = result.ranking[result.tied];
      if (!is_tie(first, next)) break;
      if (next.units < result.ranking[result.chosen].units) result.chosen = result.tied;
      result.tied++;
    }
    result.bottleneck = bottleneck_of(result.ranking[result.chosen]);
  }

  std::string percent(double part) const { return std::to_string(std::lround(100 * part)) + " %"; }

  std::string bottleneck_of(const candidate& one) const {
    if (one.simulated.stuck) return "the objects wait for each other forever, and larger streams do not help";
    const auto& computing = one.simulated.computing;
    const std::size_t busiest =
        static_cast<std::size_t>(std::max_element(computing.begin(), computing.end()) - computing.begin());
    const std::string& name = program_.objects[busiest].name;
    if (computing[busiest] >= 0.8)
      return name + " computes " + percent(computing[busiest]) +
             " of the time: declare several objects for its work, each with its own ends of the streams; "
             "more CPUs alone do not help";
    if (one.simulated.busy_cpus >= 0.95 * request_.where.cpus && one.how.model != execution_model::simulated)
      return "the CPUs are busy: more CPUs help, or less computing; " + name + " computes most, " +
             percent(computing[busiest]) + " of the time";
    const double computes = std::accumulate(computing.begin(), computing.end(), 0.0);
    const auto& blocked = one.simulated.blocked;
    if (std::accumulate(blocked.begin(), blocked.end(), 0.0) >= 0.5) {
      const auto longest = std::max_element(blocked.begin(), blocked.end());
      return "objects wait in the operating system, " +
             program_.objects[static_cast<std::size_t>(longest - blocked.begin())].name + " " +
             percent(*longest) + " of the time: declare several objects for its work, each with its own ends";
    }
    if (one.how.model == execution_model::simulated && computes >= 0.5)
      return "one CPU is busy, and no model with more is faster; " + name + " computes most, " +
             percent(computing[busiest]) + " of the time";
    return "messages, switches and waiting take most of the time, computing " +
           percent(std::min(computes, 1.0)) + " of one CPU: send fewer and larger messages";
  }

  const description& program_;
  const plan_request& request_;
  flow all_;
  std::vector<std::size_t> clusters_, clusters_of_processes_;
};

}  // namespace

plan make_plan(const description& program, const plan_request& request) {
  return planner(program, request).make();
}

}  // namespace sukima::objects::model
