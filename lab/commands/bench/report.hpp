// SPDX-License-Identifier: Apache-2.0
// The reports: table, JSON lines, CSV and plot.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/summary.hpp"
#include "shared/drawing.hpp"
#include "shared/machine.hpp"

namespace sukima::cli::bench {

/// One JSON object without a line break: benchmark, size, system, compiler, scenario, workers, depth (of a
/// tuned program), nodes, hope (in a measurement with --hope), repetitions, seconds (q1, median, q3, max),
/// cpu_seconds, ratio and cpu_ratio (null without a reference), further numbers, and paired if there is one.
/// A scenario with an ideal adds ideal, cpus, over_ideal, own_ideal and over_own_ideal.
std::string json_line(const summary& s);

struct table_style {
  bool colour = false;
  bool slowest = false;  ///< with a column of the slowest repetitions
  bool paired = false;  ///< with a column of paired ratios and their intervals
};

/// Returns tables for people, one for each benchmark and scenario in the order of the figures.
std::string table_text(std::span<const summary> figures, const table_style& style);

/// Comma-separated values: comment lines with the machine's description, a header, one line for each row.
std::string csv_text(std::span<const summary> figures, const lab::machine_facts& machine);

/// Draws PREFIX.png and PREFIX.svg.
class plotter {
 public:
  /// \throws usage_error if the folder of the prefix is not writable, or if Python with matplotlib or the
  /// script is missing
  explicit plotter(std::filesystem::path prefix);

  /// Draws the figures with the machine's description below them. \returns the files
  /// \throws std::runtime_error with the reason of a failure
  std::vector<std::filesystem::path> draw(std::span<const summary> figures,
                                          const lab::machine_facts& machine) const;

 private:
  std::filesystem::path prefix_;
  std::optional<lab::drawing_script> script_;  ///< found after the prefix has been checked
};

/// A file that gets its name only after it is complete.
class output_file {
 public:
  /// \throws usage_error if no file can be written there
  explicit output_file(std::filesystem::path path);
  /// \throws std::runtime_error with the reason of a failure
  void write(const std::string& text) const;

 private:
  std::filesystem::path path_;
};

}  // namespace sukima::cli::bench
