// SPDX-License-Identifier: Apache-2.0
// Hypervisors that take into account which virtual CPUs belong to one guest: co-scheduling, and the balance
// scheduling of Sukwong and Kim (Is co-scheduling too expensive for SMP VMs?, EuroSys 2011).
#include "converted_times.hpp"
#include "experiments.hpp"
#include "lack_of_cpu.hpp"

#include <algorithm>

namespace sukima::simulation {

namespace {

constexpr sibling_rule none = sibling_rule::none;
constexpr sibling_rule together = sibling_rule::together;
constexpr sibling_rule apart = sibling_rule::apart;

/// Claims of Takayama and Kourai, section 6.
void claim_kernels(findings& found) {
  lack_of_cpu cells;
  const std::vector<lack> hows{shared_by(2), shared_by(4), shared_by(8)};
  const auto row = [&](const std::string& kernel, const char* name, sibling_rule siblings) {
    std::vector<std::string> text{kernel + ", " + name, ""};
    for (lack how : hows) {
      how.siblings = siblings;
      text.push_back(digits(cells.relative(kernel, how)));
    }
    text.push_back("");
    found.rows.push_back(text);
  };
  const auto worst = [&](const std::string& kernel, sibling_rule siblings) {
    double most = 0;
    for (lack how : hows) {
      how.siblings = siblings;
      most = std::max(most, cells.relative(kernel, how));
    }
    return most;
  };
  for (const std::string kernel : {"bt", "lu"}) {
    row(kernel, "credit2", none);
    row(kernel, "co-scheduling", together);
    row(kernel, "balance scheduling", apart);
  }
  const double bt = worst("bt", together);
  const double lu = worst("lu", together);
  found.claims.push_back({"Takayama and Kourai, section 6",
                          "With co-scheduling BT and LU are within 1.3 times their target times.",
                          "it solves lock-holder preemption", "bt " + digits(bt) + ", lu " + digits(lu),
                          bt <= 1.3 && lu <= 1.3});
  const double left = worst("lu", apart);
  found.claims.push_back({"Takayama and Kourai, section 6",
                          "With balance scheduling LU still takes at least twice its target time.",
                          "it does not prevent lock-holder preemption", digits(left) + " times", left >= 2});
}

}  // namespace

findings sibling_rules() {
  const series sleeps = over_machines("condvar");
  const series spins = over_machines("condvar,reply=spin");
  const series sleeps_together = over_machines("condvar", no_exits, together);
  const series spins_together = over_machines("condvar,reply=spin", no_exits, together);
  const series sleeps_apart = over_machines("condvar", no_exits, apart);
  const series spins_apart = over_machines("condvar,reply=spin", no_exits, apart);
  findings found{{"program, hypervisor", "1", "2", "4", "8", "16"},
                 {row_of("condition variable, fair", sleeps), row_of("busy-waiting, fair", spins),
                  row_of("condition variable, co-scheduling", sleeps_together),
                  row_of("busy-waiting, co-scheduling", spins_together),
                  row_of("condition variable, balance scheduling", sleeps_apart),
                  row_of("busy-waiting, balance scheduling", spins_apart)},
                 {},
                 {}};
  const series gained = relative(spins_together, spins);
  found.claims.push_back({"figure 5", "Co-scheduling makes busy-waiting faster in several machines.",
                          "not in the paper", ratios_of(gained),
                          std::ranges::all_of(gained, [](const auto& one) { return one.second < 1; })});
  const series loss = relative(spins_together, sleeps_together);
  found.claims.push_back({"figure 5",
                          "With co-scheduling busy-waiting is within 5 % of the condition variable.",
                          "slower with 2 to 16 machines, without co-scheduling", ratios_of(loss),
                          std::ranges::all_of(loss, [](const auto& one) { return one.second <= 1.05; })});
  const series behind = relative(spins_apart, sleeps_apart);
  found.claims.push_back(
      {"figure 5", "With balance scheduling busy-waiting is slower than the condition variable.",
       "it is with 2 to 16 machines, without balance scheduling", ratios_of(behind), all_above(behind, 1)});
  claim_kernels(found);
  found.notes.push_back(
      "The columns are numbers of machines. Searches: milliseconds for each machine. Kernels: "
      "measured by target time, 1 is what the CPU that is left allows.");
  return found;
}

}  // namespace sukima::simulation
