// SPDX-License-Identifier: Apache-2.0
// Makes groups by METIS: objects are vertices, weighted by computing, and streams are edges, weighted by
// messages.
#include "model/grouping.hpp"

#include <metis.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace sukima::objects::model {
namespace {

/// Disjoint sets of objects.
class disjoint_sets {
 public:
  explicit disjoint_sets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::size_t find(std::size_t one) {
    while (parent_[one] != one) one = parent_[one] = parent_[parent_[one]];
    return one;
  }
  void join(std::size_t one, std::size_t other) { parent_[find(other)] = find(one); }

 private:
  std::vector<std::size_t> parent_;
};

/// A graph of clusters.
struct cluster_graph {
  std::vector<double> computing;
  std::vector<std::map<std::size_t, double>> messages;  ///< for each cluster, to its neighbours
};

cluster_graph graph_of(const description& program, const flow& all,
                       const std::vector<std::size_t>& clusters) {
  const std::size_t count = *std::max_element(clusters.begin(), clusters.end()) + 1;
  cluster_graph graph{std::vector<double>(count), std::vector<std::map<std::size_t, double>>(count)};
  for (std::size_t i = 0; i < program.objects.size(); i++)
    graph.computing[clusters[i]] +=
        all.activations[i] * (program.objects[i].compute_ns + program.objects[i].blocked_ns);
  for (std::size_t i = 0; i < program.streams.size(); i++) {
    const stream& one = program.streams[i];
    const double each = all.messages[i] / static_cast<double>(one.senders.size() * one.receivers.size());
    for (const std::size_t sender : one.senders) {
      for (const std::size_t receiver : one.receivers) {
        const std::size_t from = clusters[sender], to = clusters[receiver];
        if (from == to) continue;
        graph.messages[from][to] += each;
        graph.messages[to][from] += each;
      }
    }
  }
  return graph;
}

/// Returns a weight for METIS: a positive number, so that the sum of all weights is below a thousand million.
idx_t weight(double value, double sum) { return 1 + static_cast<idx_t>(sum > 0 ? 5e8 * value / sum : 0); }

/// Makes groups of a graph without edges: takes the largest cluster first, and puts each into the group with
/// the least computing.
std::vector<idx_t> spread(const cluster_graph& graph, std::size_t count) {
  std::vector<std::size_t> order(graph.computing.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(-graph.computing[a], a) < std::pair(-graph.computing[b], b);
  });
  std::vector<double> load(count);
  std::vector<std::size_t> members(count);
  std::vector<idx_t> parts(order.size());
  for (const std::size_t cluster : order) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < count; i++) {
      if (std::pair(load[i], members[i]) < std::pair(load[best], members[best])) best = i;
    }
    load[best] += graph.computing[cluster];
    members[best]++;
    parts[cluster] = static_cast<idx_t>(best);
  }
  return parts;
}

std::vector<idx_t> partition(const cluster_graph& graph, std::size_t count) {
  std::vector<idx_t> first = {0}, neighbours, vertex_weights, edge_weights;
  double messages = 0;
  for (const auto& to : graph.messages)
    for (const auto& [unused, number] : to) messages += number;
  const double computing = std::accumulate(graph.computing.begin(), graph.computing.end(), 0.0);
  for (std::size_t i = 0; i < graph.computing.size(); i++) {
    vertex_weights.push_back(weight(graph.computing[i], computing));
    for (const auto& [to, number] : graph.messages[i]) {
      neighbours.push_back(static_cast<idx_t>(to));
      edge_weights.push_back(weight(number, messages));
    }
    first.push_back(static_cast<idx_t>(neighbours.size()));
  }
  if (neighbours.empty()) return spread(graph, count);
  idx_t vertices = static_cast<idx_t>(graph.computing.size()), constraints = 1, cut = 0;
  auto parts = static_cast<idx_t>(count);
  std::vector<idx_t> result(graph.computing.size());
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;  // the same program gets the same groups
  const int state = METIS_PartGraphKway(&vertices, &constraints, first.data(), neighbours.data(),
                                        vertex_weights.data(), nullptr, edge_weights.data(), &parts, nullptr,
                                        nullptr, options, &cut, result.data());
  return state == METIS_OK ? result : spread(graph, count);
}

}  // namespace

void renumber(std::vector<std::size_t>& groups) {
  std::map<std::size_t, std::size_t> numbers;
  for (std::size_t& one : groups) one = numbers.emplace(one, numbers.size()).first->second;
}

std::vector<std::size_t> clusters_of(const description& program, bool groups_are_processes) {
  disjoint_sets sets(program.objects.size());
  for (const stream& one : program.streams) {
    if (!one.local || !groups_are_processes) continue;
    for (const std::size_t end : one.senders) sets.join(one.senders.front(), end);
    for (const std::size_t end : one.receivers) sets.join(one.senders.front(), end);
  }
  std::map<std::string, std::size_t> wished;
  for (std::size_t i = 0; i < program.objects.size(); i++) {
    if (program.objects[i].group.empty()) continue;
    sets.join(wished.emplace(program.objects[i].group, i).first->second, i);
  }
  std::vector<std::size_t> clusters;
  for (std::size_t i = 0; i < program.objects.size(); i++) clusters.push_back(sets.find(i));
  renumber(clusters);
  return clusters;
}

std::vector<std::size_t> group(const description& program, const flow& all,
                               const std::vector<std::size_t>& clusters, std::size_t count) {
  const std::vector<idx_t> parts = partition(graph_of(program, all, clusters), count);
  std::vector<std::size_t> groups;
  for (const std::size_t cluster : clusters) groups.push_back(static_cast<std::size_t>(parts[cluster]));
  renumber(groups);
  return groups;
}

}  // namespace sukima::objects::model
