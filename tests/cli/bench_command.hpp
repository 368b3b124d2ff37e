// SPDX-License-Identifier: Apache-2.0
// Runs `sukima bench` with fake benchmark programs: shell scripts that log how they are called.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include <base/shared/child.hpp>

namespace sukima::cli::bench {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class bench_command : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "sukima-bench-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    fs::create_directory(folder / "bin");
  }
  void TearDown() override { fs::remove_all(folder); }

  /// The benchmarks that the programs list.
  std::string listed = "fib lu";

  /// Adds a program that lists those benchmarks, logs its call, and then executes `body`. In `body`, $1 is
  /// the benchmark, $seconds its time, and `answer RESULT` prints the JSON line.
  void add_program(const std::string& name, const std::string& seconds,
                   const std::string& body = "answer 7") {
    const fs::path file = folder / "bin" / name;
    std::ofstream(file)
        << "#!/bin/sh\n"
           "if [ \"$1\" = --list ]; then printf '%s\\n' "
        << listed << "; exit; fi\n"
        << "echo " << name << " \"$@\" >> " << (folder / "log") << "\n"
        << "seconds=" << seconds << "\n"
        << "size=40; [ \"$2\" = --size ] && size=$3\n"
           "answer() {\n"
           "  echo \"{\\\"benchmark\\\":\\\"$benchmark\\\",\\\"size\\\":$size,\\\"seconds\\\":$seconds,"
           "\\\"cpu_seconds\\\":$seconds,\\\"result\\\":\\\"$1\\\"}\"\n"
           "}\n"
           "benchmark=$1\n"
        << body << "\n";
    fs::permissions(file, fs::perms::owner_all);
  }

  void add_usual_programs() {
    add_program("bench-sequential-gcc", "0.5");
    add_program("bench-sukima-gcc", "0.6");
    add_program("bench-tbb-gcc", "1.2");
    add_program("bench-rayon", "0.9");
  }

  /// With a long time limit, because a fake program without CPU for a while must not count as hanging.
  process::child_request request(std::vector<std::string> arguments) const {
    const bool measures = arguments.size() > 1 && std::ranges::find(arguments, "--list") == arguments.end();
    if (measures && std::ranges::find(arguments, "--time-limit") == arguments.end())
      arguments.insert(arguments.begin() + 1, {"--time-limit", "400"});
    arguments.insert(arguments.begin(), SUKIMA_PROGRAM);
    return {.arguments = std::move(arguments),
            .environment = {{"SUKIMA_BENCH_DIR", (folder / "bin").string()}, {"SUKIMA_CPUS", "2"}},
            .input = {},
            .limit = 500s};
  }

  process::child_result run(std::vector<std::string> arguments) const {
    return process::run_child(request(std::move(arguments)));
  }

  /// Returns the rows of a successful or partly failed run with --json, by system, workers and scenario.
  static std::map<std::string, nlohmann::json> rows_of(const process::child_result& result) {
    std::map<std::string, nlohmann::json> rows;
    for (const std::string& line : lines_of(result.output)) {
      auto row = nlohmann::json::parse(line);
      const std::string key = row.at("system").get<std::string>() + " " +
                              std::to_string(row.at("workers").get<int>()) + " " +
                              row.at("scenario").get<std::string>();
      rows[key] = std::move(row);
    }
    return rows;
  }

  /// Returns the calls of the fake programs, in their order.
  std::vector<std::string> log() const {
    std::ifstream stream(folder / "log");
    return lines_of({std::istreambuf_iterator<char>(stream), {}});
  }

  /// Expects that the request is refused with exit code 2 and one line on stderr that contains `part`, and
  /// that no program runs.
  void expect_refused(const std::vector<std::string>& arguments, const std::string& part) const {
    const process::child_result result = run(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(lines_of(result.errors).size(), 1U) << result.errors;
    EXPECT_NE(result.errors.find(part), std::string::npos) << result.errors;
    EXPECT_TRUE(log().empty());
  }

  fs::path folder;
};

}  // namespace sukima::cli::bench
