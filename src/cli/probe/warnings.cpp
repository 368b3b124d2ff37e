// SPDX-License-Identifier: Apache-2.0
// The warnings of `sukima probe`; see warnings.hpp. docs/probe.md explains each.
#include "probe/warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>

#include "capacity/meter.hpp"
#include "shared/console.hpp"

namespace sukima::cli::probe {
namespace {

/// A part of a CPU that is not worth a warning.
constexpr double negligible = 0.05;

std::optional<unsigned> whole_number(const std::optional<std::string>& text) {
  unsigned number = 0;
  if (!text || text->empty()) return std::nullopt;
  // OMP_NUM_THREADS may be a list for nested regions; its first number counts.
  const char* const end = text->data() + text->size();
  const auto [rest, failure] = std::from_chars(text->data(), end, number);
  if (failure != std::errc() || (rest != end && *rest != ',')) return std::nullopt;
  return number;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return text;
}

class collector {
 public:
  explicit collector(const surroundings& place) : place_(place), facts_(place.facts) {}

  std::vector<warning> collect() {
    affinity_below_quota();
    shared_cores();
    memory_nodes();
    threads_above_quota();
    variables_above_quota();
    spinning();
    hidden_groups();
    return std::move(found_);
  }

 private:
  void add(std::string name, std::string text, std::string advice) {
    found_.push_back({std::move(name), std::move(text), std::move(advice)});
  }

  std::optional<std::string> variable(const std::string& name) const {
    return place_.variable ? place_.variable(name) : std::nullopt;
  }

  /// Returns whether CPU is short for as many threads as may run.
  bool is_short() const { return place_.usable < facts_.cap - negligible; }

  void affinity_below_quota() {
    if (!std::isfinite(facts_.quota) || facts_.affinity == 0 || facts_.quota <= facts_.affinity + negligible)
      return;
    if (facts_.affinity >= facts_.online) return;
    add("affinity-below-quota",
        fmt::format("the quota allows {}, but the affinity mask only {}", cpus_text(facts_.quota),
                    cpus_text(facts_.affinity)),
        "start the program without taskset, numactl or a pinning wrapper, or give it a wider mask");
  }

  /// Warns if allowed CPUs share cores while other cores are outside the mask.
  void shared_cores() {
    std::map<unsigned, unsigned> inside;
    std::set<unsigned> all, nodes, same_node;
    for (const cpu_place& p : place_.machine) {
      all.insert(p.core);
      if (!place_.allowed.contains(p.cpu)) continue;
      ++inside[p.core];
      nodes.insert(p.node);
    }
    for (const cpu_place& p : place_.machine)
      if (nodes.contains(p.node)) same_node.insert(p.core);
    const std::size_t possible = std::min(place_.allowed.size(), all.size());
    if (inside.empty() || inside.size() >= possible) return;
    const std::size_t near = std::min(place_.allowed.size(), same_node.size());
    add("siblings",
        fmt::format(
            "the {} allowed CPUs ({}) are hardware threads of only {} of the machine's {} cores, so threads "
            "slow each other down while other cores are not used",
            place_.allowed.size(), cpu_list_text(place_.allowed), inside.size(), all.size()),
        fmt::format(
            "allow CPUs of different cores, such as {}",
            cpu_list_text(choose_cpus(place_.machine, cpus_of(near > inside.size() ? nodes : all_nodes()),
                                      static_cast<unsigned>(place_.allowed.size())))));
  }

  std::set<unsigned> all_nodes() const {
    std::set<unsigned> nodes;
    for (const cpu_place& p : place_.machine) nodes.insert(p.node);
    return nodes;
  }

  std::set<unsigned> cpus_of(const std::set<unsigned>& nodes) const {
    std::set<unsigned> cpus;
    for (const cpu_place& p : place_.machine)
      if (nodes.contains(p.node)) cpus.insert(p.cpu);
    return cpus;
  }

  void memory_nodes() {
    std::map<unsigned, std::size_t> inside;
    std::map<unsigned, std::size_t> size;
    for (const cpu_place& p : place_.machine) {
      ++size[p.node];
      if (place_.allowed.contains(p.cpu)) ++inside[p.node];
    }
    if (inside.empty()) return;
    const auto fits = [&](const auto& node) { return node.second >= place_.allowed.size(); };
    const bool is_part = place_.allowed.size() < place_.machine.size();
    if (is_part && inside.size() > 1 && std::ranges::any_of(size, fits)) {
      add("nodes",
          fmt::format(
              "the {} allowed CPUs ({}) are spread over {} memory nodes, although one node has enough",
              place_.allowed.size(), cpu_list_text(place_.allowed), inside.size()),
          fmt::format("allow CPUs of one node, such as {}",
                      cpu_list_text(choose_cpus(place_.machine, cpus_of(all_nodes()),
                                                static_cast<unsigned>(place_.allowed.size())))));
    }
    const auto has_memory = [&](const auto& node) { return place_.memory_nodes.contains(node.first); };
    if (!place_.memory_nodes.empty() && std::ranges::none_of(inside, has_memory)) {
      add("far-memory",
          fmt::format("memory comes from node {} only, but no allowed CPU ({}) is there: every access goes "
                      "to another node",
                      cpu_list_text(place_.memory_nodes), cpu_list_text(place_.allowed)),
          "make the cpuset's or numactl's memory nodes those of the CPUs");
    }
  }

  /// Warns of runtimes that read the affinity mask but ignore quotas.
  void threads_above_quota() {
    const auto fitting = static_cast<unsigned>(std::max(std::ceil(place_.usable - negligible), 1.0));
    if (!is_short() || facts_.cap <= std::max(fitting, place_.threads)) return;
    if (variable("OMP_NUM_THREADS")) return;
    add("threads",
        fmt::format(
            "OpenMP, OpenBLAS, Cilk and other runtimes that ignore {} will start {} threads here for {}",
            facts_.binding == SUKIMA_CAPACITY_QUOTA ? "quotas" : "neighbours", facts_.cap,
            cpus_text(place_.usable)),
        "start programs with sukima run --, or set OMP_NUM_THREADS and the like");
  }

  void variables_above_quota() {
    static constexpr std::array names{"OMP_NUM_THREADS",   "OPENBLAS_NUM_THREADS",   "MKL_NUM_THREADS",
                                      "GOMAXPROCS",        "RAYON_NUM_THREADS",      "TOKIO_WORKER_THREADS",
                                      "JULIA_NUM_THREADS", "DOTNET_PROCESSOR_COUNT", "SUKIMA_WORKERS"};
    for (const char* const name : names) {
      const auto number = whole_number(variable(name));
      if (!number || *number < place_.usable + 1 || *number <= place_.threads) continue;
      add("variable",
          fmt::format("{}={} asks for more threads than fit the CPU available ({})", name, *number,
                      cpus_text(place_.usable)),
          fmt::format("unset {}, and start the program with sukima run --", name));
    }
  }

  void spinning() {
    if (!is_short()) return;
    const auto complain_about = [&](const std::string& setting, const std::string& better) {
      add("spinning",
          fmt::format("{} lets idle threads spin, which uses up {} that working threads need", setting,
                      facts_.binding == SUKIMA_CAPACITY_QUOTA ? "the quota" : "CPU"),
          better);
    };
    if (const auto policy = variable("OMP_WAIT_POLICY"); policy && lower(*policy) == "active")
      complain_about("OMP_WAIT_POLICY=" + *policy, "set OMP_WAIT_POLICY=passive");
    if (const auto time = variable("KMP_BLOCKTIME");
        time && (lower(*time) == "infinite" || whole_number(time) > 1U))
      complain_about("KMP_BLOCKTIME=" + *time, "set KMP_BLOCKTIME=0");
    if (const auto count = variable("GOMP_SPINCOUNT");
        count && (lower(*count).starts_with("inf") || count->size() > 3))
      complain_about("GOMP_SPINCOUNT=" + *count, "set GOMP_SPINCOUNT=0");
    if (const auto wait = variable("SUKIMA_WAIT");
        wait && (wait->find("spin") != std::string::npos || wait->find("pause") != std::string::npos))
      complain_about("SUKIMA_WAIT=" + *wait, "unset SUKIMA_WAIT");
    if (const auto yield = variable("OMPI_MCA_mpi_yield_when_idle"); yield && *yield == "0")
      complain_about("OMPI_MCA_mpi_yield_when_idle=0", "set it to 1");
  }

  void hidden_groups() {
    if (facts_.ancestors_hidden == 0 || std::isfinite(facts_.quota)) return;
    add("hidden", "the groups above this one are not visible from here, so a quota there would be unknown",
        "ask the operator of the container, or measure with sukima probe --watch while the program runs");
  }

  const surroundings& place_;
  const sukima_capacity_facts& facts_;
  std::vector<warning> found_;
};

}  // namespace

std::vector<warning> warnings_for(const surroundings& place) { return collector(place).collect(); }

}  // namespace sukima::cli::probe
