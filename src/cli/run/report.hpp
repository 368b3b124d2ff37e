// SPDX-License-Identifier: Apache-2.0
// The report of `sukima run --report`: the decisions, their times and reasons.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <base/shared/program.hpp>
#include "run/plan.hpp"

namespace sukima::cli::run {

/// One decision of the preloaded library.
struct late_decision {
  double seconds = 0;  ///< since the program was started
  int process = 0;
  std::string program;
  std::string text;
};

/// A finished run.
struct run_record {
  std::vector<std::string> program;
  run_plan plan;
  std::vector<late_decision> decisions;
  process::program_end end;
  double seconds = 0;      ///< from start to end
  double cpu_seconds = 0;  ///< of the program and of its children that it waited for
};

/// Parses the library's log; lines that are not decisions are skipped.
/// \param start the start of the program on the monotonic clock, in nanoseconds
std::vector<late_decision> read_log(std::string_view text, std::uint64_t start);

/// Returns the plan as lines NAME=VALUE with comments (for --dry-run).
std::string plan_text(const run_plan& plan);

std::string text_of(const run_record& record);
nlohmann::json json_of(const run_record& record);

}  // namespace sukima::cli::run
