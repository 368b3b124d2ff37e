// SPDX-License-Identifier: Apache-2.0
// The experiment in Kourai's part of the slides of Yasugi, Hiraishi, Kourai and others: conflicts between the
// affinities of virtual CPUs and of NUMA nodes, on processors whose modules of two cores share a part of the
// core.
#include "experiments.hpp"
#include "xen_machine.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace sukima::simulation {

namespace {

constexpr unsigned most_threads = 16;
constexpr unsigned drawings = 12;
// The nodes take so long that the time before the hypervisor first looks for better homes hardly matters.
constexpr search_shape long_search{1, 1, 6'000, 500'000};

/// Indexed by the number of threads minus one.
using by_threads = std::vector<affinity_measurement>;

by_threads measure_all(const affinities& where) {
  by_threads all;
  for (unsigned threads = 1; threads <= most_threads; ++threads)
    all.push_back(measure(where, threads, long_search, drawings));
  return all;
}

double time(const by_threads& all, unsigned threads) { return all[threads - 1].time; }
double shared(const by_threads& all, unsigned threads) { return all[threads - 1].shared_modules; }

/// One value for each number of threads in the range, and the smallest and largest of these values.
struct numbers {
  std::string text;
  double least = 1e300;
  double most = 0;

  numbers(unsigned first, unsigned last, const std::function<double(unsigned)>& number) {
    for (unsigned threads = first; threads <= last; ++threads) {
      const double one = number(threads);
      text += (text.empty() ? "" : ", ") + digits(one);
      least = std::min(least, one);
      most = std::max(most, one);
    }
  }
};

numbers slower(const by_threads& than, const by_threads& all, unsigned first, unsigned last) {
  return {first, last, [&](unsigned threads) { return time(all, threads) / time(than, threads); }};
}

struct all_settings {
  by_threads physical = measure_all(physical_machine());
  by_threads eight = measure_all(eight_and_eight());
  by_threads sixteen = measure_all(sixteen_of_one());
  by_threads nodes = measure_all(nodes_only());
  by_threads binding = measure_all(binding_only());
  by_threads none = measure_all(no_affinity());
};

void claim_conflict(const all_settings& all, findings& found) {
  const numbers to_physical = slower(all.physical, all.sixteen, 5, 8);
  found.claims.push_back({"comparison between VM and PM",
                          "With 5 to 8 threads 0-16 is slower than the physical machine.",
                          "steeply slower than it from 4 threads on",
                          "5 to 8 threads: " + to_physical.text + " times as long", to_physical.least > 1});
  const auto gain = [&](unsigned from, unsigned to) {
    return time(all.sixteen, from) / time(all.sixteen, to);
  };
  found.claims.push_back({"comparison between VM and PM",
                          "0-16 gains more from 8 to 12 threads than from 4 to 8, relative to their number.",
                          "it scales well again with more than 8 threads",
                          digits(gain(8, 12) / 1.5) + " and " + digits(gain(4, 8) / 2) + " of a perfect gain",
                          gain(8, 12) / 1.5 > gain(4, 8) / 2});
  const numbers to_eight = slower(all.eight, all.sixteen, 5, 8);
  found.claims.push_back({"root cause", "With 5 to 8 threads 0-16 is slower than 8-8.",
                          "in 0-16 node 2 is used first",
                          "5 to 8 threads: " + to_eight.text + " times as long", to_eight.least > 1});
}

/// Whether with each number of threads in the range more modules have both CPUs busy than with one thread
/// less.
bool grows(const by_threads& all, unsigned first, unsigned last) {
  for (unsigned threads = first; threads <= last; ++threads)
    if (shared(all, threads) <= shared(all, threads - 1)) return false;
  return true;
}

void claim_modules(const all_settings& all, findings& found) {
  const auto in = [](const by_threads& of, unsigned first, unsigned last) {
    return numbers(first, last, [&of](unsigned threads) { return shared(of, threads); });
  };
  const numbers up_to_8 = in(all.eight, 1, 8);
  found.claims.push_back(
      {"changes of pCPU usage",
       "In 8-8 fewer than one module has both CPUs busy with 1 to 8 threads, and with each thread beyond "
       "more "
       "have.",
       "one core of each module up to 8 threads, the others beyond",
       "1 to 8 threads: " + up_to_8.text + ". 9 to 16 threads: " + in(all.eight, 9, 16).text,
       up_to_8.most < 1 && grows(all.eight, 9, 16)});
  const numbers first = in(all.sixteen, 1, 4);
  const numbers second = in(all.sixteen, 5, 8);
  const numbers third = in(all.sixteen, 9, 12);
  found.claims.push_back({"changes of pCPU usage",
                          "In 0-16 more modules have both CPUs busy with each thread of 5 to 8 and of 13 to "
                          "16, and fewer than one "
                          "more has with 1 to 4 and 9 to 12.",
                          "the other core is used with 5 to 8 and 13 to 16 threads",
                          "1 to 16 threads: " + first.text + "; " + second.text + "; " + third.text + "; " +
                              in(all.sixteen, 13, 16).text,
                          first.most < 1 && grows(all.sixteen, 5, 8) && third.most < second.most + 1 &&
                              grows(all.sixteen, 13, 16)});
}

void claim_cures(const all_settings& all, findings& found) {
  for (const auto& [name, cured] : {std::pair("node", &all.binding), std::pair("virtual CPU", &all.nodes)}) {
    const numbers ratios = slower(all.eight, *cured, 1, most_threads);
    found.claims.push_back({"disable vCPU/node affinities",
                            std::string("Without the ") + name +
                                " affinity each number of threads takes within 10 % the time of 8-8.",
                            "almost the same performance", "1 to 16 threads: " + ratios.text + " of the time",
                            ratios.least >= 1 / 1.1 && ratios.most <= 1.1});
  }
  const auto to_best = [&](unsigned threads) {
    const double best = std::min({time(all.eight, threads), time(all.sixteen, threads),
                                  time(all.nodes, threads), time(all.binding, threads)});
    return time(all.none, threads) / best;
  };
  const numbers ratios(1, most_threads, to_best);
  found.claims.push_back(
      {"disable vCPU/node affinities",
       "Without affinity each number of threads is at most 3 % slower than the best of the "
       "others, and 16 threads are faster than all others.",
       "the best scalability", "1 to 16 threads: " + ratios.text + " of the time",
       ratios.most <= 1.03 && to_best(most_threads) < 1});
}

}  // namespace

findings affinity_conflicts() {
  const all_settings all;
  findings found{{"setting"}, {}, {}, {}};
  for (unsigned threads = 1; threads <= most_threads; ++threads)
    found.columns.push_back(std::to_string(threads));
  const auto add_rows = [&](const affinities& where, const by_threads& measured) {
    std::vector<std::string> speed{std::string(where.name) + ", speed-up"};
    std::vector<std::string> modules{std::string(where.name) + ", modules"};
    for (const affinity_measurement& m : measured) {
      speed.push_back(digits(time(all.physical, 1) / m.time));
      modules.push_back(digits(m.shared_modules));
    }
    found.rows.push_back(speed);
    found.rows.push_back(modules);
  };
  add_rows(physical_machine(), all.physical);
  add_rows(eight_and_eight(), all.eight);
  add_rows(sixteen_of_one(), all.sixteen);
  add_rows(nodes_only(), all.nodes);
  add_rows(binding_only(), all.binding);
  add_rows(no_affinity(), all.none);
  claim_conflict(all, found);
  claim_modules(all, found);
  claim_cures(all, found);
  found.notes.push_back(
      "By the number of threads: the speed-up over one thread on the physical machine, and the number of "
      "modules whose two CPUs are busy, on average.");
  return found;
}

}  // namespace sukima::simulation
