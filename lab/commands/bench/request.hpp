// SPDX-License-Identifier: Apache-2.0
// The options of `sukima bench`, parsed and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/programs.hpp"

namespace sukima::cli::bench {

/// A program of another project, `NAME=COMMAND`.
struct external_system {
  std::string name;
  std::string command;
};

/// The choice between programs that several compilers made from the same system.
enum class compiler_choice { best, gcc, clang, both };

/// The options as given, with their defaults. Lists are separated by commas.
struct bench_options {
  std::vector<std::string> benchmarks;
  std::vector<std::string> workers;
  std::vector<std::string> peers{"all"};
  std::vector<std::string> scenarios;  ///< empty: alone; with `hope` several
  std::vector<std::string> externals;
  std::string compiler = "best";
  std::optional<std::string> size;
  std::vector<std::string> nodes;  ///< numbers of nodes of a cluster; empty: none
  std::string transport = "tcp";   ///< between nodes
  std::optional<double> quota;     ///< CPUs of each node
  bool hope = false;               ///< nodes under hierarchical omission
  std::optional<std::uint64_t> seed;  ///< of the killed nodes and of the moments
  int repetitions = 5;
  std::optional<double> time_limit;
  std::optional<double> peer_time;
  std::optional<double> worst;  ///< limit of the slowest repetition divided by the median
  std::optional<std::string> csv;
  std::optional<std::string> plot;
  bool json = false;
  bool verbose = false;
  bool list = false;
};

/// A checked request.
struct bench_request {
  std::vector<std::string> benchmarks;
  std::vector<int> workers;
  bool workers_given = false;  ///< by the user
  std::vector<std::string> systems;  ///< sequential, sukima, and the requested peers that are installed
  std::vector<std::string> scenarios;
  std::vector<external_system> externals;
  compiler_choice compiler = compiler_choice::best;
  std::optional<std::int64_t> size;
};

/// Parses the numbers given to an option (`--workers`), each from 1 to `most`, without repetitions. Throws
/// usage_error.
std::vector<int> parse_counts(std::string_view option, const std::vector<std::string>& words, int most);

/// Parses numbers of workers, each from 1 to 1024. Throws usage_error.
std::vector<int> parse_workers(const std::vector<std::string>& words);

/// Parses a problem size of at least 0; nothing if none was given. Throws usage_error.
std::optional<std::int64_t> parse_size(const std::optional<std::string>& word);

/// Parses `NAME=COMMAND` with a name of letters, digits, '-', '_' and '.' that no system has. The shell
/// checks the syntax of the command. Throws usage_error.
external_system parse_external(std::string_view text);

/// Checks that each of `words` is one of `accepted`, and returns them without repetitions. Throws usage_error
/// that names `kind` ("peer") and the accepted words.
std::vector<std::string> parse_choices(std::string_view kind, const std::vector<std::string>& words,
                                       const std::vector<std::string>& accepted);

/// Parses and checks the options. Leaves out peers that are not installed, and adds their names to `missing`.
/// Throws usage_error.
bench_request parse_request(const bench_options& options, const std::vector<installed_system>& installed,
                            int cpus, std::vector<std::string>& missing);

/// Returns the names of all benchmarks that any of the programs has, sorted.
std::vector<std::string> available_benchmarks(const std::vector<installed_system>& installed);

}  // namespace sukima::cli::bench
