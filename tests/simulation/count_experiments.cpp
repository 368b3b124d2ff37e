// SPDX-License-Identifier: Apache-2.0
// The experiments of Takayama and Kourai: which number of virtual CPUs is the best, and which one pCPU-Est
// finds.
#include "experiments.hpp"
#include "lack_of_cpu.hpp"

#include <algorithm>
#include <cmath>

namespace sukima::simulation {

namespace {

const std::vector<unsigned> numbers{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16};

unsigned best(lack_of_cpu& cells, const std::string& kernel, const lack& how) {
  return *std::ranges::min_element(numbers, {},
                                   [&](unsigned vcpus) { return cells.time(kernel, how, vcpus); });
}

/// Returns by how much the best number is faster than that of the static rule, as a fraction of the rule's
/// time.
double gain(lack_of_cpu& cells, const std::string& kernel, const lack& how) {
  return 1 - cells.time(kernel, how, best(cells, kernel, how)) / cells.time(kernel, how, how.left());
}

/// Returns the mean number of CPUs that a machine uses.
double use(lack_of_cpu& cells, const std::string& kernel, const lack& how, unsigned vcpus) {
  const barrier_measurement& m = cells.measure(kernel, how, vcpus, lack_of_cpu::all);
  return static_cast<double>(m.used) / m.time;
}

/// Returns the number that pCPU-Est finds. It begins at the number of the static rule, and increases the
/// number while the use changes in the same direction by more than 2 % of a CPU for each CPU that is left.
unsigned estimate(lack_of_cpu& cells, const std::string& kernel, const lack& how) {
  const double least = 0.02 * how.left();
  unsigned at = how.left();
  double direction = 0;
  for (const unsigned next : numbers) {
    if (next <= at) continue;
    const double change = use(cells, kernel, how, next) - use(cells, kernel, how, at);
    if (std::abs(change) < least || change * direction < 0) break;
    direction = change;
    at = next;
  }
  return at;
}

std::vector<std::string> row(lack_of_cpu& cells, const std::string& kernel, const lack& how) {
  std::vector<std::string> text{kernel + ", " + how.name};
  for (const unsigned vcpus : numbers) text.push_back(digits(cells.relative(kernel, how, vcpus)));
  text.push_back(std::to_string(best(cells, kernel, how)));
  text.push_back(std::to_string(estimate(cells, kernel, how)));
  return text;
}

void claim_numbers(lack_of_cpu& cells, findings& found) {
  const lack half = with_cpus(8);
  const double more = cells.time("bt", half, 12) / cells.time("bt", half, 8);
  found.claims.push_back({"figure 8", "With 8 CPUs, BT is faster with 12 virtual CPUs than with 8.",
                          "12 is the best number", digits(more) + " of the time", more < 1});
  const double less = cells.time("lu", half, 7) / cells.time("lu", half, 8);
  found.claims.push_back({"figure 8", "With 8 CPUs, LU is faster with 7 virtual CPUs than with 8.", "it is",
                          digits(less) + " of the time", less < 1});
  const unsigned for_bt = best(cells, "bt", half);
  found.claims.push_back(
      {"figure 9", "With 8 CPUs, BT's best number is above them.", "12", std::to_string(for_bt), for_bt > 8});
  const unsigned for_lu = best(cells, "lu", half);
  found.claims.push_back(
      {"figure 9", "With 8 CPUs, LU's best number is below them.", "7", std::to_string(for_lu), for_lu < 8});
  const auto about_gains = [&](const char* figure, const char* text, const char* paper, const lack& how,
                               double least) {
    claim c{figure, text, paper, "", true};
    for (const char* const kernel : {"cg", "ep", "lu", "bt"}) {
      const double gained = gain(cells, kernel, how);
      c.numbers += (c.numbers.empty() ? "" : ", ") + std::string(kernel) + ' ' + digits(100 * gained) + " %";
      c.holds = c.holds && gained > least;
    }
    found.claims.push_back(c);
  };
  about_gains("figure 10", "With 8 CPUs, another number than the static rule's is faster in each kernel.",
              "in each, by up to about 90 %", half, 0);
  const lack capped = capped_at(800);
  const unsigned bt_capped = best(cells, "bt", capped);
  found.claims.push_back({"figure 11", "With a cap of 800 %, the static rule's number is the best for BT.",
                          "8", std::to_string(bt_capped), bt_capped == 8});
  const unsigned lu_capped = best(cells, "lu", capped);
  found.claims.push_back({"figure 11", "With a cap of 800 %, LU's best number is above the static rule's.",
                          "it is", std::to_string(lu_capped), lu_capped > 8});
  about_gains("figure 12", "With a cap, the best number is at least 79 % faster than the static rule's.",
              "79 % in EP, more than 90 % in the others", capped, 0.79);
  const lack shared = shared_by(2);
  const unsigned bt_shared = best(cells, "bt", shared);
  const unsigned lu_shared = best(cells, "lu", shared);
  found.claims.push_back(
      {"section 3.2", "With shared CPUs, the static rule's number is the best for BT and LU.", "8",
       std::to_string(bt_shared) + " and " + std::to_string(lu_shared), bt_shared == 8 && lu_shared == 8});
}

void claim_estimates(lack_of_cpu& cells, findings& found) {
  const lack half = with_cpus(8);
  claim near{"figures 13 and 16",
             "The number that pCPU-Est finds by the CPU use is within 3 % of the best time in "
             "three of four kernels.",
             "three of four patterns of the use show the best number", "", false};
  unsigned are_near = 0;
  for (const char* const kernel : {"cg", "ep", "lu", "bt"}) {
    const double slower = cells.time(kernel, half, estimate(cells, kernel, half)) /
                          cells.time(kernel, half, best(cells, kernel, half));
    near.numbers += (near.numbers.empty() ? "" : ", ") + std::string(kernel) + ' ' + digits(slower);
    are_near += slower <= 1.03 ? 1 : 0;
  }
  near.holds = are_near >= 3;
  found.claims.push_back(near);
  claim beats{"figure 15", "It is faster than the static rule's for BT and UA with 8 CPUs.",
              "by up to 30 % and 23 %", "", true};
  for (const char* const kernel : {"bt", "ua"}) {
    const double ratio =
        cells.time(kernel, half, estimate(cells, kernel, half)) / cells.time(kernel, half, half.left());
    beats.numbers +=
        (beats.numbers.empty() ? "" : ", ") + std::string(kernel) + ' ' + digits(ratio) + " of the time";
    beats.holds = beats.holds && ratio < 1;
  }
  found.claims.push_back(beats);
  const unsigned found_number = estimate(cells, "bt", half);
  const unsigned best_number = best(cells, "bt", half);
  found.claims.push_back({"figure 17", "For BT it is the best number, or one beside it.", "nearly",
                          std::to_string(found_number) + ", and the best is " + std::to_string(best_number),
                          found_number + 1 >= best_number && found_number <= best_number + 1});
}

}  // namespace

findings best_counts() {
  lack_of_cpu cells;
  findings found{{"kernel, CPU"}, {}, {}, {}};
  for (const unsigned vcpus : numbers) found.columns.push_back(std::to_string(vcpus));
  found.columns.insert(found.columns.end(), {"best", "pCPU-Est"});
  for (const char* const kernel : {"cg", "ep", "lu", "bt", "ua"})
    found.rows.push_back(row(cells, kernel, with_cpus(8)));
  for (const char* const kernel : {"cg", "ep", "lu", "bt"})
    found.rows.push_back(row(cells, kernel, capped_at(800)));
  for (const char* const kernel : {"lu", "bt"}) found.rows.push_back(row(cells, kernel, shared_by(2)));
  claim_numbers(cells, found);
  claim_estimates(cells, found);
  found.notes.push_back("By numbers of virtual CPUs, measured by target time. The program has 16 threads.");
  return found;
}

}  // namespace sukima::simulation
