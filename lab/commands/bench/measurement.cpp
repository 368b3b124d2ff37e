// SPDX-License-Identifier: Apache-2.0
// Calls benchmark programs and parses their output; see measurement.hpp.
#include "measurement.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/catalogue.hpp"
#include "shared/benchmark_call.hpp"

namespace sukima::cli::bench {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The beginning of a text, on one line, for use in a message.
std::string excerpt(std::string_view text) {
  constexpr std::size_t most = 160;
  std::string line(trimmed(text).substr(0, most));
  for (char& c : line) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = ' ';
  }
  return line;
}

/// The last line that is not blank: where programs print their fatal error.
std::string_view last_line(std::string_view text) {
  text = trimmed(text);
  const std::size_t newline = text.rfind('\n');
  return newline == std::string_view::npos ? text : text.substr(newline + 1);
}

bool is_time(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

outcome external_measurement(const process::child_result& result) {
  const std::optional<double> seconds = last_number(result.output);
  if (!seconds) {
    return run_failure{
        fmt::format("printed no number on stdout, which should end with its seconds; it printed: '{}'",
                    excerpt(result.output))};
  }
  if (!is_time(*seconds)) return run_failure{fmt::format("printed {} as its seconds", *seconds)};
  return measurement{*seconds, result.cpu_seconds, std::nullopt, {}, {}};
}

}  // namespace

std::string describe(const task& task) {
  const std::string compiler = task.compiler.empty() ? "" : fmt::format(" ({})", task.compiler);
  const std::string depth = task.depth ? fmt::format(" at depth {}", *task.depth) : "";
  const std::string nodes =
      task.nodes == 0 ? "" : fmt::format("{} node{} of ", task.nodes, task.nodes == 1 ? "" : "s");
  return fmt::format("{} by {}{}{} with {}{} worker{}, {}", task.benchmark, task.system, compiler, depth,
                     nodes, task.workers, task.workers == 1 ? "" : "s", task.scenario);
}

bool is_by_peer(const task& task) {
  return task.system != sequential_system && task.system != own_system && task.system != ideal_system;
}

std::chrono::nanoseconds time_limit_of(const task& task, std::optional<double> seconds) {
  constexpr double for_peers = 10;
  constexpr double for_others = 60;
  const scenario_entry* const scenario = find_scenario(task.scenario);
  const bool pressed = scenario != nullptr && scenario->around.put_pressure();
  const bool short_one = is_by_peer(task) && !pressed;
  const std::chrono::duration<double> limit(seconds.value_or(short_one ? for_peers : for_others));
  return std::chrono::duration_cast<std::chrono::nanoseconds>(limit);
}

outcome parse_program_output(std::string_view output, const task& task) {
  const auto garbage = [&](std::string_view why) {
    return run_failure{
        fmt::format("did not print the expected JSON line ({}); it printed: '{}'", why, excerpt(output))};
  };
  const std::string_view text = trimmed(output);
  if (text.find('\n') != std::string_view::npos) return garbage("more than one line");
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return garbage("not a JSON object");
  measurement read;
  bool has_seconds = false;
  bool has_benchmark = false;
  for (const auto& [name, value] : json.items()) {
    if (name == "benchmark") {
      has_benchmark = value.is_string() && value == task.benchmark;
    } else if (name == "size") {
      if (!value.is_number_integer()) return garbage("'size' is not an integer");
      read.size = value.get<std::int64_t>();
    } else if (name == "seconds") {
      has_seconds = value.is_number() && is_time(read.seconds = value.get<double>());
    } else if (name == "cpu_seconds") {
      if (!value.is_number() || !is_time(read.cpu_seconds = value.get<double>()))
        return garbage("no 'cpu_seconds'");
    } else if (name == "result") {
      read.result = value.is_string() ? value.get<std::string>() : value.dump();
    } else if (value.is_number()) {
      read.more[name] = value.get<double>();
    }
  }
  if (!has_benchmark) return garbage(fmt::format("'benchmark' is not '{}'", task.benchmark));
  if (!has_seconds) return garbage("no 'seconds' of at least 0");
  if (task.size && read.size && *task.size != *read.size) {
    return run_failure{fmt::format("ran size {} instead of {}", *read.size, *task.size)};
  }
  return read;
}

std::optional<double> last_number(std::string_view output) {
  std::optional<double> last;
  const auto is_digit = [&](std::size_t i) {
    return i < output.size() && std::isdigit(static_cast<unsigned char>(output[i])) != 0;
  };
  for (std::size_t i = 0; i < output.size();) {
    const bool sign = output[i] == '-';
    const std::size_t digits = i + (sign ? 1 : 0);
    if (!is_digit(digits) && !(digits < output.size() && output[digits] == '.' && is_digit(digits + 1))) {
      ++i;
      continue;
    }
    double value = 0;
    const char* const begin = output.data() + i;
    const auto [end, error] = std::from_chars(begin, output.data() + output.size(), value);
    if (error == std::errc()) last = value;
    i += static_cast<std::size_t>(end - begin);
  }
  return last;
}

std::string fill_in(std::string_view command, const task& task) {
  lab::marked_values values{{"{workers}", std::to_string(task.workers)}, {"{benchmark}", task.benchmark}};
  if (task.size) values.emplace_back("{size}", std::to_string(*task.size));
  return lab::fill_in(command, values);
}

process::child_request request_for(const task& task) {
  process::child_request request;
  if (!task.command.empty()) {
    request.arguments = {"/bin/sh", "-c", fill_in(task.command, task)};
    request.environment = {{"SUKIMA_WORKERS", std::to_string(task.workers)}};
    return request;
  }
  request.arguments = lab::benchmark_arguments(task.benchmark, task.size, static_cast<unsigned>(task.workers),
                                               static_cast<unsigned>(task.repetitions));
  request.arguments.insert(request.arguments.begin(), task.program.string());
  if (const system_entry* const system = find_system(task.system)) request.environment = system->environment;
  if (task.depth) request.arguments.insert(request.arguments.end(), {"--depth", std::to_string(*task.depth)});
  return request;
}

std::optional<run_failure> failure_of(const process::child_result& result, std::chrono::nanoseconds limit) {
  std::string failure = process::describe_failure(result, limit);
  if (failure.empty()) return std::nullopt;
  const std::string_view last_message = last_line(result.errors);
  if (!last_message.empty()) failure += fmt::format("; it printed: '{}'", excerpt(last_message));
  if (!result.timed_out) return run_failure{failure};
  return run_failure{failure, std::chrono::duration<double>(limit).count()};
}

outcome judge(const process::child_result& result, const task& task, std::chrono::nanoseconds limit) {
  if (auto failure = failure_of(result, limit)) return *std::move(failure);
  return task.command.empty() ? parse_program_output(result.output, task) : external_measurement(result);
}

}  // namespace sukima::cli::bench
