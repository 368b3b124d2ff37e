// SPDX-License-Identifier: Apache-2.0
// The folder of a run: the experiments, the machine, and the time of each run.
//
//   machine.json        the machine, versions, and obstacles
//   experiments/*.json  the experiments as they were run
//   runs.jsonl          one line for each run; an interrupted run continues after the last whole line
#pragma once

#include <base/shared/descriptor.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiment.hpp"
#include "record.hpp"
#include "verdict.hpp"

namespace sukima::lab {

/// The machine and the versions with which a folder's runs were made.
struct run_facts {
  std::vector<std::pair<std::string, std::string>> machine;  ///< name and value: cpu, cpus, kernel, date, …
  std::map<std::string, std::string> versions;  ///< of sukima, QEMU, the guests' kernel
  test_bed bed;
  run_choice choice;
};

std::string facts_text(const run_facts& facts);
/// \throws experiment_error with the place
run_facts parse_facts(std::string_view text);

/// The fact with the variables SUKIMA_* of the environment. Programs see them, except in virtual machines.
inline constexpr const char* variables_fact = "variables";
/// Returns these variables, sorted, with their values. \param environment as `environ`, with a null at the
/// end
std::string variables_text(const char* const* environment);

/// Adds the versions of the programs behind virtual machines. \throws experiment_error if earlier runs had
/// other versions
void learn(run_facts& facts, const std::string& accelerator,
           const std::map<std::string, std::string>& versions);

/// Returns the difference between machines or choices that forbids a common folder; empty if there is none.
std::string difference(const run_facts& before, const run_facts& now);

/// The contents of a folder.
struct recorded_runs {
  run_facts facts;
  std::vector<experiment> experiments;  ///< by name
  std::vector<record> records;
};

/// Reads a folder. O(size).
/// \throws experiment_error with the file and the place in it, or if a file cannot be read
recorded_runs read_folder(const std::filesystem::path& folder);

/// Returns the text of a file. \throws experiment_error if it cannot be read
std::string read_text(const std::filesystem::path& file);

/// Appends each record to a file at once, so that an interruption loses at most one run.
class record_file {
 public:
  /// Opens or creates the file, locks it, and cuts off a last line without an end.
  /// \throws experiment_error if another process has locked it; std::system_error if it cannot be opened
  explicit record_file(const std::filesystem::path& file);

  /// \throws std::system_error if the file cannot be written, as on a full disk; earlier records stay
  void append(const record& one);

 private:
  std::filesystem::path path_;
  descriptor file_;
};

/// Replaces the whole file. \throws std::system_error
void write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace sukima::lab
