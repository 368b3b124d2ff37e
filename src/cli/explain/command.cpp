// SPDX-License-Identifier: Apache-2.0
// `sukima explain`: its options, and how a request is carried out.
#include "explain/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "console.hpp"
#include "explain/story.hpp"
#include "explain/trace_file.hpp"
#include "process/program.hpp"
#include "process/temporary_directory.hpp"

namespace sukima::cli::explain {
namespace {

struct explain_options {
  std::string file;
  std::string keep;
  bool json = false;
};

constexpr const char* footer = R"(Examples:
  sukima explain -- ./solver 12             run a program, then tell its story
  SUKIMA_TRACE=run.json ./solver            only write the trace
  sukima explain run.json                   tell the story of a trace
  sukima explain --json run.json            the same as an object

The trace can be looked at with https://ui.perfetto.dev and chrome://tracing, too.)";

void write_story(const recorded_trace& trace, bool json, std::FILE* to) {
  const std::vector<runtime_story> stories = stories_of(trace);
  const std::string text = json ? json_of(stories).dump(2) + "\n" : text_of(stories);
  if (std::fwrite(text.data(), 1, text.size(), to) != text.size() || std::fflush(to) != 0)
    throw std::system_error(errno, std::generic_category(), "writing the story");
}

void tell_of(const std::string& program, const program_end& end, const std::string& trace_file, bool json) {
  if (!std::filesystem::exists(trace_file)) {
    complain(
        fmt::format("'{}' wrote no trace: {}", program,
                    end.signal != 0 ? "it was ended by a signal" : "it used no runtime, or ended by _exit"));
    return;
  }
  try {
    write_story(read_trace(trace_file), json, stderr);
  } catch (const usage_error& error) {  // the request was right
    complain(error.what());
  }
}

int run_and_explain(const explain_options& options, const std::vector<std::string>& program) {
  program_end end;
  {
    const temporary_directory directory("explain");
    const std::string file = directory.path() + "/trace.json";
    end = run_program(program, environment_with({"SUKIMA_TRACE=" + file}));
    if (!options.keep.empty() && std::filesystem::exists(file)) {
      std::error_code failure;
      std::filesystem::copy_file(file, options.keep, std::filesystem::copy_options::overwrite_existing,
                                 failure);
      if (failure)
        complain(fmt::format("the trace cannot be kept as '{}': {}", options.keep, failure.message()));
    }
    tell_of(program.front(), end, file, options.json);
  }
  if (end.signal != 0) {
    end_by(end.signal);
    return 128 + end.signal;  // a signal that does not end this process, after all
  }
  return end.exit_code;
}

}  // namespace

void add_command(CLI::App& parent, int& code, std::optional<std::vector<std::string>> program) {
  auto options = std::make_shared<explain_options>();
  CLI::App* const command = parent.add_subcommand(
      "explain", "Tells in words what a run's workers did, what their time was lost to, and what to try");
  command->footer(footer);
  command->add_option("FILE", options->file, "A trace that a program wrote where SUKIMA_TRACE said");
  command->add_flag("--json", options->json, "Print the story as one JSON object");
  command->add_option("--keep", options->keep, "Keep the trace of PROGRAM in this file")->type_name("FILE");
  command->callback([options, &code, program = std::move(program)] {
    if (program.has_value()) {
      if (!options->file.empty())
        throw usage_error(fmt::format(
            "explain takes a file or, after --, a program; '{}' and '--' are both given", options->file));
      if (program->empty())
        throw usage_error("no program was given after --: sukima explain -- PROGRAM ARGUMENT...");
      code = run_and_explain(*options, *program);
      return;
    }
    if (options->file.empty())
      throw usage_error(
          "nothing to explain: give the file of a trace, or a program: sukima explain -- PROGRAM");
    if (!options->keep.empty())
      throw usage_error("--keep is for the trace of a program: sukima explain --keep FILE -- PROGRAM");
    write_story(read_trace(options->file), options->json, stdout);
    code = exit_success;
  });
}

}  // namespace sukima::cli::explain
