// SPDX-License-Identifier: Apache-2.0
// The experiments of Takayama and Kourai: kernels in machines of 16 vCPUs that lack CPU.
#include "experiments.hpp"
#include "lack_of_cpu.hpp"

#include <algorithm>
#include <cmath>

namespace sukima::simulation {

namespace {

const std::vector<std::string> kernels{"cg", "ep", "lu", "bt", "sp", "ua"};

std::vector<lack> shares() { return {shared_by(2), shared_by(4), shared_by(8)}; }
std::vector<lack> caps() { return {capped_at(1200), capped_at(800), capped_at(400), capped_at(100)}; }
std::vector<lack> cpu_numbers() { return {with_cpus(12), with_cpus(8), with_cpus(4), with_cpus(1)}; }

double worst(lack_of_cpu& cells, const std::string& kernel, const std::vector<lack>& hows) {
  double most = 0;
  for (const lack& how : hows) most = std::max(most, cells.relative(kernel, how));
  return most;
}

double worst_by_rule(lack_of_cpu& cells, const std::string& kernel, const std::vector<lack>& hows) {
  double most = 0;
  for (const lack& how : hows) most = std::max(most, cells.by_rule(kernel, how));
  return most;
}

/// A table with two rows for each kernel: with all vCPUs, and with the number of the static rule.
findings table(lack_of_cpu& cells, const std::vector<lack>& hows) {
  findings found{{"kernel", "virtual CPUs"}, {}, {}, {}};
  for (const lack& how : hows) found.columns.push_back(how.name);
  for (const std::string& kernel : kernels) {
    std::vector<std::string> all{kernel, "16"};
    std::vector<std::string> rule{kernel, "static rule"};
    for (const lack& how : hows) {
      all.push_back(digits(cells.relative(kernel, how)));
      rule.push_back(digits(cells.by_rule(kernel, how)));
    }
    found.rows.push_back(all);
    found.rows.push_back(rule);
  }
  found.notes.push_back("Measured by target time: 1 is what the CPU that is left allows.");
  return found;
}

std::string each(const std::vector<std::string>& of, auto number) {
  std::string text;
  for (const std::string& kernel : of)
    text += (text.empty() ? "" : ", ") + kernel + ' ' + digits(number(kernel));
  return text;
}

}  // namespace

findings sharing_cpus() {
  lack_of_cpu cells;
  findings found = table(cells, shares());
  const auto most = [&](const std::string& kernel) { return worst(cells, kernel, shares()); };
  found.claims.push_back({"figure 2",
                          "With the worst number of machines LU takes at least twice its target time.",
                          "426 times", digits(most("lu")) + " times", most("lu") >= 2});
  found.claims.push_back(
      {"figure 2", "With the worst number of machines even EP takes at least 1.2 times its target time.",
       "1.2 times, the least of all", digits(most("ep")) + " times", most("ep") >= 1.2});
  const auto gains = [&](const lack& how) {
    return std::max(cells.by_rule("bt", how) / cells.relative("bt", how),
                    cells.by_rule("lu", how) / cells.relative("lu", how));
  };
  found.claims.push_back({"figure 3", "The static rule makes BT and LU faster with 2, 4 and 8 machines.",
                          "it does",
                          "at most " + digits(gains(shared_by(2))) + ", " + digits(gains(shared_by(4))) +
                              ", " + digits(gains(shared_by(8))) + " of the time",
                          gains(shared_by(2)) < 1 && gains(shared_by(4)) < 1 && gains(shared_by(8)) < 1});
  const double left = worst_by_rule(cells, "lu", shares());
  found.claims.push_back({"figure 3", "With the static rule LU still takes at least twice its target time.",
                          "up to 61 times", digits(left) + " times", left >= 2});
  return found;
}

findings limited_cpus() {
  lack_of_cpu cells;
  findings found = table(cells, caps());
  const std::vector<std::string> others{"cg", "ep", "bt", "sp", "ua"};
  const auto ratio = [&](const std::string& kernel) {
    return worst(cells, kernel, caps()) / worst(cells, kernel, shares());
  };
  found.claims.push_back({"figure 4",
                          "Each kernel but LU loses more with the worst cap than with the worst sharing.",
                          "each does", "worst cap / worst sharing: " + each(others, ratio),
                          std::ranges::all_of(others, [&](const std::string& k) { return ratio(k) > 1; })});
  found.claims.push_back({"figure 4", "LU loses less with the worst cap than with the worst sharing.",
                          "it does", digits(ratio("lu")) + " of it", ratio("lu") < 1});
  const auto gain = [&](const std::string& kernel) {
    return cells.by_rule(kernel, capped_at(400)) / cells.relative(kernel, capped_at(400));
  };
  const std::vector<std::string> four{"cg", "ep", "bt", "lu"};
  found.claims.push_back({"figure 5", "With a cap of a quarter the static rule makes the kernels faster.",
                          "by far", "part of the time: " + each(four, gain),
                          std::ranges::all_of(four, [&](const std::string& k) { return gain(k) < 1; })});
  const double loss = cells.by_rule("lu", capped_at(1200)) / cells.relative("lu", capped_at(1200));
  found.claims.push_back({"figure 5",
                          "With a cap of 1200 % the static rule makes LU at least ten times as slow.",
                          "11 times", digits(loss) + " times", loss >= 10});
  return found;
}

findings fewer_cpus() {
  lack_of_cpu cells;
  findings found = table(cells, cpu_numbers());
  const auto compared = [&](const std::vector<lack>& others) {
    return [&cells, others](const std::string& kernel) {
      return worst(cells, kernel, cpu_numbers()) / worst(cells, kernel, others);
    };
  };
  const auto to_shares = compared(shares());
  const auto to_caps = compared(caps());
  found.claims.push_back(
      {"figure 6", "Fewer CPUs cost each kernel less than sharing.", "they do",
       "of the worst sharing: " + each(kernels, to_shares),
       std::ranges::all_of(kernels, [&](const std::string& k) { return to_shares(k) < 1; })});
  found.claims.push_back(
      {"figure 6", "Fewer CPUs cost each kernel less than a cap.", "they do",
       "of the worst cap: " + each(kernels, to_caps),
       std::ranges::all_of(kernels, [&](const std::string& k) { return to_caps(k) < 1; })});
  const auto most = [&](const std::string& kernel) { return worst(cells, kernel, cpu_numbers()); };
  found.claims.push_back(
      {"figure 6", "Some kernel is within 1.1 times its target time even with the worst number.", "some are",
       each(kernels, most),
       std::ranges::any_of(kernels, [&](const std::string& k) { return most(k) <= 1.1; })});
  found.claims.push_back({"figure 6", "LU and UA take at least twice their target times.", "far longer",
                          each({"lu", "ua"}, most), most("lu") >= 2 && most("ua") >= 2});
  const auto gain = [&](const std::string& kernel, unsigned cpus) {
    return cells.by_rule(kernel, with_cpus(cpus)) / cells.relative(kernel, with_cpus(cpus));
  };
  found.claims.push_back({"figure 7", "With half of the CPUs the static rule makes LU faster.", "by far",
                          digits(gain("lu", 8)) + " of the time", gain("lu", 8) < 1});
  found.claims.push_back(
      {"figure 7", "With half of the CPUs the static rule makes BT faster by less than 1.35 times.",
       "the difference is small", digits(gain("bt", 8)) + " of the time", gain("bt", 8) > 1 / 1.35});
  found.claims.push_back({"figure 7", "With 12 of 16 CPUs the static rule makes BT slower.", "by 34 %",
                          digits(gain("bt", 12)) + " of the time", gain("bt", 12) > 1});
  return found;
}

findings numbers_of_threads() {
  lack_of_cpu cells;
  const std::vector<lack> hows{with_cpus(12),  with_cpus(8), with_cpus(4), capped_at(1200), capped_at(800),
                               capped_at(400), shared_by(2), shared_by(4), shared_by(8)};
  findings found{{"kernel", "rule"}, {}, {}, {}};
  for (const lack& how : hows) found.columns.push_back(how.name);
  for (const std::string kernel : {"bt", "lu"}) {
    std::vector<std::string> rule{kernel, "virtual CPUs"};
    std::vector<std::string> threads{kernel, "threads"};
    for (const lack& how : hows) {
      rule.push_back(digits(cells.by_rule(kernel, how)));
      threads.push_back(digits(cells.by_threads(kernel, how)));
    }
    found.rows.push_back(rule);
    found.rows.push_back(threads);
  }
  const auto claim_about = [&](const char* figure, const char* text, std::size_t first) {
    claim c{figure, text, "they are for BT and LU", "", true};
    for (const std::string kernel : {"bt", "lu"})
      for (std::size_t i = first; i < first + 3; ++i) {
        const double ratio = cells.by_threads(kernel, hows[i]) / cells.by_rule(kernel, hows[i]);
        c.numbers += (c.numbers.empty() ? "part of the time: " : ", ") + kernel + ' ' + digits(ratio) + " (" +
                     hows[i].name + ')';
        c.holds = c.holds && ratio < 1;
      }
    found.claims.push_back(c);
  };
  claim_about("figure 18", "With fewer CPUs fewer threads are faster than fewer virtual CPUs.", 0);
  claim_about("figure 19", "With a cap fewer threads are faster than fewer virtual CPUs.", 3);
  claim_about("figure 20", "With shared CPUs fewer threads are faster than fewer virtual CPUs.", 6);
  double most = 0;
  for (std::size_t i = 0; i < 3; ++i) most = std::max(most, cells.by_threads("lu", hows[i]));
  found.claims.push_back({"figure 18", "With fewer CPUs and fewer threads LU is within its target time.",
                          "in all cases", "at most " + digits(most) + " times", most <= 1});
  return found;
}

}  // namespace sukima::simulation
