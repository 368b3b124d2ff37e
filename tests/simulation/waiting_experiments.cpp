// SPDX-License-Identifier: Apache-2.0
// The experiments of Yoda, Yasugi, Hiraishi and Kourai: waiting for a reply, in machines of 16 vCPUs that
// share 16 CPUs.
#include "converted_times.hpp"
#include "experiments.hpp"

#include <algorithm>

namespace sukima::simulation {

namespace {

/// Whether the time grows with each doubling of the machines, or with -1 decreases.
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
  const series sleeps = over_machines("condvar");
  const series spins = over_machines("condvar,reply=spin");
  const series adapts = over_machines("adaptive");
  const series ratios = relative(spins, sleeps);
  findings found{
      columns,
      {row_of("condition variable", sleeps), row_of("busy-waiting", spins), row_of("`adaptive`", adapts)},
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
  const series sleeps = over_machines("condvar", exits_for_sure);
  const series pauses = over_machines("condvar,reply=pause", exits_for_sure);
  const double spins = converted_time(2, "condvar,reply=spin");
  const double without = converted_time(2, "condvar,reply=pause");
  const double by_default_time = converted_time(2, "condvar,reply=pause", exits_by_default);
  pause_loop_exits to_own_machine = exits_for_sure;
  to_own_machine.in_guest = true;
  const series own = over_machines("condvar,reply=pause", to_own_machine);
  pause_loop_exits to_others_first = exits_for_sure;
  to_others_first.demotes = true;
  const series demoted = over_machines("condvar,reply=pause", to_others_first);
  const series ratios = relative(pauses, sleeps);
  findings found{columns,
                 {row_of("condition variable", sleeps),
                  row_of("pause, exits for sure", pauses),
                  row_of("the same, to virtual CPUs of the same machine", own),
                  row_of("the same, to those first that have not exited", demoted),
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
  const series by_target = relative(own, pauses);
  found.claims.push_back(
      {"figure 7", "Exits to virtual CPUs of the same machine make busy-waiting faster than exits to any.",
       "the victim is in the same machine, and its turn comes more rarely with more machines",
       ratios_of(by_target), std::ranges::all_of(by_target, [](const auto& one) { return one.second < 1; })});
  const series by_demotion = relative(demoted, pauses);
  found.claims.push_back({"section 9",
                          "Busy-waiting is faster if virtual CPUs that have exited are chosen last.",
                          "proposed, not measured", ratios_of(by_demotion),
                          std::ranges::all_of(by_demotion, [](const auto& one) { return one.second < 1; })});
  return found;
}

}  // namespace sukima::simulation
