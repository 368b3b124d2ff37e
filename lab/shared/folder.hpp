// SPDX-License-Identifier: Apache-2.0
// The folder of a run: what was run, where, and every single time.
//
//   machine.json        the machine, versions, and what could not be set up
//   experiments/*.json  the experiments as they were run
//   runs.jsonl          one line for each run; an interrupted run goes on after the last whole line
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiment.hpp"
#include "record.hpp"
#include "verdict.hpp"

namespace sukima::lab {

/// Where and how a folder's runs were made.
struct run_facts {
  std::vector<std::pair<std::string, std::string>> machine;  ///< name and value: cpu, cpus, kernel, date, …
  std::map<std::string, std::string> versions;  ///< of sukima, QEMU, the guests' kernel
  test_bed bed;
  run_choice choice;
};

std::string facts_text(const run_facts& facts);
/// \throws experiment_error with the place
run_facts parse_facts(std::string_view text);

/// The fact that has the variables SUKIMA_* of the environment: programs see them, but for those in virtual
/// machines.
inline constexpr const char* variables_fact = "variables";
/// These variables, sorted, with their values. \param environment as `environ`, ended by null
std::string variables_text(const char* const* environment);

/// Adds what virtual machines are made with. \throws experiment_error if the runs so far had something else
void learn(run_facts& facts, const std::string& accelerator,
           const std::map<std::string, std::string>& versions);

/// Why runs of these two may not be in one folder; empty if they may: the machines or the choices differ.
std::string difference(const run_facts& before, const run_facts& now);

/// All of a folder.
struct recorded_runs {
  run_facts facts;
  std::vector<experiment> experiments;  ///< by name
  std::vector<record> records;
};

/// Reads a folder. O(size).
/// \throws experiment_error with the file and the place in it, also where a file cannot be read
recorded_runs read_folder(const std::filesystem::path& folder);

/// The text of a file. \throws experiment_error if it cannot be read
std::string read_text(const std::filesystem::path& file);

/// Appends records to a file, each at once, so that an interruption loses at most the run that it interrupts.
class record_file {
 public:
  /// Opens or makes the file, and cuts off a last line without end. One process at a time has it.
  /// \throws experiment_error if another process has it; std::system_error if it cannot be opened
  explicit record_file(const std::filesystem::path& file);
  ~record_file();
  record_file(const record_file&) = delete;
  record_file& operator=(const record_file&) = delete;

  /// \throws std::system_error if it cannot be written, as on a full disk; what was written before stays
  void append(const record& one);

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

/// Replaces a file as a whole. \throws std::system_error
void write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace sukima::lab
