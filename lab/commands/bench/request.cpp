// SPDX-License-Identifier: Apache-2.0
// Parses the options of `sukima bench`; see request.hpp.
#include "request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <set>

#include <base/shared/child.hpp>
#include <cli/shared/console.hpp>
#include "bench/catalogue.hpp"
#include "shared/find_program.hpp"

namespace sukima::cli::bench {
namespace {

/// Sukima's own limit (settings::workers).
constexpr int most_workers = 1024;

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// \throws usage_error the shell that runs the command refuses its syntax
void check_syntax(const external_system& external) {
  constexpr std::chrono::seconds patience{60};
  const process::child_result read =
      process::run_child({.arguments = {"/bin/sh", "-n", "-c", external.command},
                          .environment = {},
                          .input = {},
                          .limit = patience});
  if (read.exit_code == 0 && read.signal == 0) return;
  std::string reason = read.errors.substr(0, read.errors.find('\n'));
  constexpr std::string_view mark = "yntax error: ";
  if (const std::size_t at = reason.find(mark); at != std::string::npos) reason.erase(0, at + mark.size());
  throw process::usage_error(fmt::format(
      "--external {}: the shell cannot read the command \"{}\": {}; correct its quotes and brackets",
      external.name, external.command, reason));
}

compiler_choice parse_compiler(const std::string& word) {
  static const std::vector<std::string> words{"best", "gcc", "clang", "both"};
  parse_choices("compiler", {word}, words);
  return static_cast<compiler_choice>(std::ranges::find(words, word) - words.begin());
}

/// The installed systems to measure, in the order of the catalogue.
std::vector<std::string> parse_systems(const std::vector<std::string>& words,
                                       const std::vector<installed_system>& installed,
                                       std::vector<std::string>& missing) {
  const std::vector<std::string> known = peer_names();
  std::vector<std::string> accepted = known;
  accepted.insert(accepted.end(), {"all", "none"});
  std::vector<std::string> chosen = parse_choices("peer", words, accepted);
  if (chosen.size() > 1 &&
      (std::ranges::count(chosen, "none") > 0 || std::ranges::count(chosen, "all") > 0)) {
    throw process::usage_error("--peers takes 'all', 'none' or a list of peers, not both");
  }
  if (chosen.front() == "none") chosen.clear();
  if (!chosen.empty() && chosen.front() == "all") chosen = known;
  std::vector<std::string> present;
  for (const installed_system& system : installed) {
    const bool peer = system.name != sequential_system && system.name != own_system;
    if (peer && std::ranges::count(chosen, system.name) == 0) continue;
    (system.programs.empty() ? missing : present).push_back(system.name);
  }
  return present;
}

std::vector<std::string> parse_benchmarks(const std::vector<std::string>& words,
                                          const std::vector<installed_system>& installed,
                                          bool with_externals) {
  std::vector<std::string> accepted = available_benchmarks(installed);
  if (with_externals) {
    for (const benchmark_entry& entry : known_benchmarks()) accepted.push_back(entry.name);
    std::ranges::sort(accepted);
    accepted.erase(std::ranges::unique(accepted).begin(), accepted.end());
  }
  if (accepted.empty()) {
    std::string places;
    for (const auto& directory : lab::program_directories()) {
      places += fmt::format("{}'{}'", places.empty() ? "" : " or ", directory.string());
    }
    throw process::usage_error(fmt::format(
        "there are no benchmark programs in {}: build them, or set SUKIMA_BENCH_DIR to their directory",
        places));
  }
  if (words.empty()) {
    throw process::usage_error(
        fmt::format("no benchmark was named; give 'all' or some of {}", join_words(accepted, " and ")));
  }
  if (words.size() == 1 && words.front() == "all") return accepted;
  return parse_choices("benchmark", words, accepted);
}

}  // namespace

std::vector<std::string> available_benchmarks(const std::vector<installed_system>& installed) {
  std::set<std::string> names;
  for (const installed_system& system : installed) {
    for (const program& p : system.programs) names.insert(p.benchmarks.begin(), p.benchmarks.end());
  }
  return {names.begin(), names.end()};
}

std::optional<std::int64_t> parse_size(const std::optional<std::string>& word) {
  if (!word) return std::nullopt;
  const auto size = parse_number<std::int64_t>(*word);
  if (!size || *size < 0) {
    throw process::usage_error(fmt::format(
        "--size is '{}': give a whole number of at least 0 (the defaults: sukima bench --list)", *word));
  }
  return size;
}

std::vector<int> parse_counts(std::string_view option, const std::vector<std::string>& words, int most) {
  std::vector<int> counts;
  for (const std::string& word : words) {
    const auto count = parse_number<int>(word);
    if (!count || *count < 1 || *count > most) {
      throw process::usage_error(
          fmt::format("{} has '{}': give numbers from 1 to {}, such as {} 1,2", option, word, most, option));
    }
    if (std::ranges::count(counts, *count) == 0) counts.push_back(*count);
  }
  return counts;
}

std::vector<int> parse_workers(const std::vector<std::string>& words) {
  return parse_counts("--workers", words, most_workers);
}

external_system parse_external(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const bool plain = !name.empty() && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  });
  if (equals == std::string_view::npos || !plain || equals + 1 == text.size()) {
    throw process::usage_error(fmt::format(
        "--external is '{}': give NAME='COMMAND', with a name of letters, digits, '-', '_' and '.'", text));
  }
  if (find_system(name) != nullptr) {
    throw process::usage_error(
        fmt::format("--external has the name '{}', which is a known system: choose another", name));
  }
  external_system external{std::string(name), std::string(text.substr(equals + 1))};
  check_syntax(external);
  return external;
}

std::vector<std::string> parse_choices(std::string_view kind, const std::vector<std::string>& words,
                                       const std::vector<std::string>& accepted) {
  std::vector<std::string> chosen;
  for (const std::string& word : words) {
    if (std::ranges::count(accepted, word) == 0) {
      throw process::usage_error(fmt::format("unknown {} '{}': choose {}", kind, word, join_words(accepted)));
    }
    if (std::ranges::count(chosen, word) == 0) chosen.push_back(word);
  }
  return chosen;
}

bench_request parse_request(const bench_options& options, const std::vector<installed_system>& installed,
                            int cpus, std::vector<std::string>& missing) {
  bench_request request;
  request.workers = parse_workers(options.workers);
  request.workers_given = !request.workers.empty();
  if (!request.workers_given) request.workers = cpus > 1 ? std::vector<int>{1, cpus} : std::vector<int>{1};
  request.scenarios = options.scenarios.empty()
                          ? std::vector<std::string>{"alone"}
                          : parse_choices("scenario", options.scenarios, scenario_names());
  request.compiler = parse_compiler(options.compiler);
  request.size = parse_size(options.size);
  for (const std::string& text : options.externals) {
    external_system external = parse_external(text);
    if (std::ranges::count(request.externals, external.name, &external_system::name) > 0) {
      throw process::usage_error(
          fmt::format("--external has the name '{}' twice: choose another", external.name));
    }
    request.externals.push_back(std::move(external));
  }
  request.systems = parse_systems(options.peers, installed, missing);
  request.benchmarks = parse_benchmarks(options.benchmarks, installed, !request.externals.empty());
  return request;
}

}  // namespace sukima::cli::bench
