// SPDX-License-Identifier: Apache-2.0
// Runs programs; see programs.hpp.
#include "objects/programs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <base/shared/descriptor.hpp>
#include <base/shared/interruption.hpp>
#include <base/shared/program.hpp>
#include <base/shared/temporary_directory.hpp>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "objects/files.hpp"
#include "objects/recording.hpp"
#include "shared/console.hpp"

namespace sukima::cli::objects {
namespace {

/// Redirects stdout of this process and its children to a file as long as the object exists.
class moved_output {
 public:
  explicit moved_output(int to) : before_(dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    dup2(to, STDOUT_FILENO);
  }
  moved_output(const moved_output&) = delete;
  moved_output& operator=(const moved_output&) = delete;
  ~moved_output() {
    std::fflush(stdout);
    dup2(before_.get(), STDOUT_FILENO);
  }

 private:
  descriptor before_;
};

/// Discards stdout of this process and its children as long as the object exists.
class dropped_output {
 public:
  dropped_output() : nowhere_(open("/dev/null", O_WRONLY | O_CLOEXEC)), moved_(nowhere_.get()) {}

 private:
  descriptor nowhere_;
  moved_output moved_;
};

/// Returns the recording that the library made of a run.
std::string record_text(const std::vector<std::string>& program, double seconds) {
  const process::temporary_directory directory("record");
  const process::removed_on_signal cleanup(directory.path(), process::directory_contents::files);
  const std::string file = directory.path() + "/recording";
  process::program_end end;
  {
    const moved_output moved(STDERR_FILENO);
    end = process::run_program(
        program, process::environment_with({fmt::format("SUKIMA_OBJECTS_RECORD={}:{}", seconds, file)}));
  }
  if (end.signal != 0)
    throw process::usage_error(
        fmt::format("'{}' was ended by signal {}, so nothing was recorded: fix the program, then record "
                    "it again",
                    program.front(), end.signal));
  if (!std::filesystem::exists(file))
    throw process::usage_error(
        fmt::format("'{}' ran no concurrent objects: give a program that calls sukima::objects::program::run",
                    program.front()));
  return read_file(file, "the recording");
}

/// Refuses a program whose name the description cannot have, before it runs.
/// \throws process::usage_error
void expect_utf8(const std::string& name, const std::string& program) {
  try {
    static_cast<void>(nlohmann::json(name).dump());
  } catch (const nlohmann::json::exception&) {
    throw process::usage_error(fmt::format(
        "'{}' cannot be described: its file name is not UTF-8; start it by a link with another name",
        program));
  }
}

}  // namespace

model::plan quiet_plan(const model::description& program, const model::plan_request& request) {
  const dropped_output dropped;
  return model::make_plan(program, request);
}

model::description record_program(const std::vector<std::string>& program, double seconds) {
  const std::string name = std::filesystem::path(program.front()).filename();
  expect_utf8(name, program.front());
  try {
    model::description seen = description_of(record_text(program, seconds), name);
    static_cast<void>(model::description_text(seen));
    return seen;
  } catch (const model::description_error& error) {
    throw process::usage_error(fmt::format("'{}' cannot be described: {}", program.front(), error.what()));
  } catch (const nlohmann::json::exception&) {
    throw process::usage_error(fmt::format(
        "'{}' cannot be described: the name of an object or a stream is not UTF-8", program.front()));
  }
}

double time_program(const std::vector<std::string>& program, const std::string& plan) {
  const process::temporary_directory directory("time");
  const process::removed_on_signal cleanup(directory.path(), process::directory_contents::files);
  const std::string file = directory.path() + "/nanoseconds";
  process::program_end end;
  {
    const dropped_output dropped;
    end = process::run_program(
        program, process::environment_with(
                     {"SUKIMA_OBJECTS_RECORD=", "SUKIMA_OBJECTS=" + plan, "SUKIMA_OBJECTS_TIME=" + file}));
  }
  if (end.signal != 0 || end.exit_code != 0 || !std::filesystem::exists(file))
    throw process::usage_error(fmt::format(
        "'{}' {}, so its time is not known: fix the program, then validate it again", program.front(),
        end.signal != 0      ? fmt::format("was ended by signal {}", end.signal)
        : end.exit_code != 0 ? fmt::format("ended with exit code {}", end.exit_code)
                             : "ran no objects"));
  const std::string text = read_file(file, "the time of a run");
  double time_ns = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), time_ns).ec != std::errc())
    throw process::usage_error(fmt::format(
        "the time of '{}' is not a number; it uses another version of the library", program.front()));
  return time_ns;
}

}  // namespace sukima::cli::objects
