// SPDX-License-Identifier: Apache-2.0
// Yoda, Yasugi, Hiraishi, Kourai: waiting for a reply, in machines of 16 vCPUs that share 16 CPUs.
#include "experiments.hpp"
#include "overcommit.hpp"

#include <cstdlib>
#include <map>

namespace sukima::simulation {

namespace {

constexpr unsigned numbers_of_machines[] = {1, 2, 4, 8, 16};
constexpr pause_loop_exits none{};
// 128 and 4,096 cycles, and 512 and 1,024 cycles, at 2.5 GHz.
constexpr pause_loop_exits by_default{51, 1'638};
constexpr pause_loop_exits for_sure{205, 410};

/// Milliseconds for each machine.
double converted_time(unsigned machines, const char* policy, const pause_loop_exits& exits) {
  cell c;
  c.machines = machines;
  c.setup.pcpus = 16;
  c.setup.slack = 4'000;
  c.setup.exits = exits;
  setenv("SUKIMA_WAIT", policy, 1);
  setenv("SUKIMA_STEAL", "request", 1);
  c.runtime = settings::from_environment();
  c.runtime.workers = c.vcpus;
  c.runtime.elastic = false;
  c.runtime.pin = pin_policy::none;
  return static_cast<double>(simulate(c).time) * 1e-6 / machines;
}

using series = std::map<unsigned, double>;

series over_machines(const char* policy, const pause_loop_exits& exits) {
  series all;
  for (const unsigned machines : numbers_of_machines) all[machines] = converted_time(machines, policy, exits);
  return all;
}

std::vector<std::string> row(const char* name, const series& times) {
  std::vector<std::string> cells{name};
  for (const auto& [machines, time] : times) cells.push_back(digits(time));
  return cells;
}

std::string text_of(const series& times) {
  std::string text;
  for (const auto& [machines, time] : times)
    text += (text.empty() ? "" : ", ") + digits(time) + " ms with " + std::to_string(machines);
  return text;
}

/// The times of one series divided by those of another one, for more than one machine.
series relative(const series& times, const series& to) {
  series all;
  for (const auto& [machines, time] : times)
    if (machines > 1) all[machines] = time / to.at(machines);
  return all;
}

std::string ratios_of(const series& ratios) {
  std::string text;
  for (const auto& [machines, ratio] : ratios)
    text += (text.empty() ? "" : ", ") + digits(ratio) + " with " + std::to_string(machines);
  return text + " machines";
}

bool all_above(const series& ratios, double bound) {
  for (const auto& [machines, ratio] : ratios)
    if (ratio <= bound) return false;
  return true;
}

/// Whether each further doubling of the machines takes longer, or with -1 less time.
bool goes(const series& times, int direction) {
  double before = 0;
  for (const auto& [machines, time] : times) {
    if (machines > 1 && direction * (time - before) <= 0) return false;
    before = time;
  }
  return true;
}

const std::vector<std::string> columns{"wait policy, ms for each machine", "1", "2", "4", "8", "16"};

}  // namespace

findings waiting_in_machines() {
  const series sleeps = over_machines("condvar", none);
  const series spins = over_machines("condvar,reply=spin", none);
  const series adapts = over_machines("adaptive", none);
  const series ratios = relative(spins, sleeps);
  findings found{columns,
                 {row("condition variable", sleeps), row("busy-waiting", spins), row("`adaptive`", adapts)},
                 {},
                 {}};
  found.claims.push_back({"figures 3 and 4",
                          "In one machine busy-waiting for the reply is faster than the condition variable.",
                          "by 1.9 % on the machine, by 7.9 % in a virtual one",
                          digits(spins.at(1) / sleeps.at(1)) + " of the time", spins.at(1) < sleeps.at(1)});
  found.claims.push_back({"figure 5",
                          "In several machines busy-waiting is slower than the condition variable.",
                          "it is with 2, 4, 8 and 16 machines", ratios_of(ratios), all_above(ratios, 1)});
  found.claims.push_back({"figure 5", "With busy-waiting the converted time grows with each doubling.",
                          "it does", text_of(spins), goes(spins, +1)});
  found.claims.push_back({"figure 5",
                          "With the condition variable the converted time falls with each doubling.",
                          "it does", text_of(sleeps), goes(sleeps, -1)});
  return found;
}

findings pausing_in_machines() {
  const series sleeps = over_machines("condvar", for_sure);
  const series pauses = over_machines("condvar,reply=pause", for_sure);
  const double spins = converted_time(2, "condvar,reply=spin", none);
  const double without = converted_time(2, "condvar,reply=pause", none);
  const double by_default_time = converted_time(2, "condvar,reply=pause", by_default);
  const series ratios = relative(pauses, sleeps);
  findings found{columns,
                 {row("condition variable", sleeps),
                  row("pause, exits for sure", pauses),
                  {"busy-waiting without pause", "", digits(spins), "", "", ""},
                  {"pause, no exits", "", digits(without), "", "", ""},
                  {"pause, exits by default", "", digits(by_default_time), "", "", ""}},
                 {},
                 {}};
  found.claims.push_back(
      {"figure 7",
       "In several machines busy-waiting with pause-loop exits is slower than the condition "
       "variable.",
       "it is, even with exits that surely happen", ratios_of(ratios), all_above(ratios, 1)});
  found.claims.push_back({"figure 7", "In two machines exits that surely happen make busy-waiting faster.",
                          "by 8 %", digits(pauses.at(2) / spins) + " of the time", pauses.at(2) < spins});
  found.claims.push_back({"figure 8", "The pause instruction with exits by default changes less than 5 %.",
                          "0.780 s instead of 0.784 s", digits(by_default_time / spins) + " of the time",
                          by_default_time / spins > 0.95 && by_default_time / spins < 1.05});
  found.claims.push_back(
      {"figure 8", "With the pause instruction, exits for sure are faster than those by default.",
       "0.709 s instead of 0.780 s", digits(pauses.at(2) / by_default_time) + " of the time",
       pauses.at(2) < by_default_time});
  return found;
}

}  // namespace sukima::simulation
