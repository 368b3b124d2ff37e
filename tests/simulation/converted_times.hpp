// SPDX-License-Identifier: Apache-2.0
// The experiment of Yoda et al.: a search in each of 1 to 16 machines with 16 vCPUs, on 16 CPUs. Times are
// converted: divided by the number of machines.
#pragma once

#include "laboratory.hpp"

#include <map>
#include <string>
#include <vector>

namespace sukima::simulation {

inline constexpr pause_loop_exits no_exits{};
// 128 and 4,096 cycles, and 512 and 1,024 cycles, at 2.5 GHz.
inline constexpr pause_loop_exits exits_by_default{51, 1'638};
inline constexpr pause_loop_exits exits_for_sure{205, 410};

/// Returns the milliseconds until the last machine has ended, divided by the number of machines.
double converted_time(unsigned machines, const char* policy, const pause_loop_exits& exits = no_exits,
                      sibling_rule siblings = sibling_rule::none);

/// Times by the number of machines.
using series = std::map<unsigned, double>;

/// Returns the times for 1, 2, 4, 8 and 16 machines.
series over_machines(const char* policy, const pause_loop_exits& exits = no_exits,
                     sibling_rule siblings = sibling_rule::none);
/// Divides the times of one series by those of another one, for more than one machine.
series relative(const series& times, const series& to);
bool all_above(const series& ratios, double bound);

/// Returns a row of a table with a column for each number of machines.
std::vector<std::string> row_of(std::string name, const series& times);
std::string text_of(const series& times);
std::string ratios_of(const series& ratios);

}  // namespace sukima::simulation
