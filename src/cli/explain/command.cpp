// SPDX-License-Identifier: Apache-2.0
// `sukima explain`: its options, and how a request is carried out.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include <base/shared/program.hpp>
#include <base/shared/temporary_directory.hpp>
#include "explain/page.hpp"
#include "explain/run_profile.hpp"
#include "explain/trace_file.hpp"
#include "shared/commands.hpp"
#include "shared/console.hpp"

namespace sukima::cli::explain {
namespace {

struct explain_options {
  std::string file;
  std::string keep;
  std::string html;
  bool json = false;
};

constexpr const char* footer = R"(Examples:
  sukima explain -- ./solver 12             run a program, then explain its run
  SUKIMA_TRACE=run.json ./solver            only write the trace
  sukima explain run.json                   explain a trace
  sukima explain --json run.json            the same as a JSON object
  sukima explain --html run.html run.json   also a page with a timeline

The trace also opens in https://ui.perfetto.dev and chrome://tracing.)";

void write_page(const std::string& file, const std::string& page) {
  std::ofstream out(file);
  if (!(out << page << std::flush))
    throw std::system_error(errno, std::generic_category(),
                            fmt::format("the page cannot be written to '{}'", file));
}

/// \param title what was explained
void write_profiles(const recorded_trace& trace, const explain_options& options, const std::string& title,
                    std::FILE* to) {
  const std::vector<runtime_profile> profiles = profiles_of(trace);
  const std::string text =
      options.json
          ? nlohmann::json{{"runtimes", json_of(profiles)}, {"clones", json_of(trace.clones)}}.dump(2) + "\n"
          : text_of(profiles) + text_of(trace.clones);
  if (std::fwrite(text.data(), 1, text.size(), to) != text.size() || std::fflush(to) != 0)
    throw std::system_error(errno, std::generic_category(), "the explanation cannot be written");
  // Last, so that a page that cannot be written does not take the explanation along.
  if (!options.html.empty()) write_page(options.html, page_of(trace, profiles, title));
}

void explain_program(const std::string& program, const process::program_end& end,
                     const std::string& trace_file, const explain_options& options) {
  if (!std::filesystem::exists(trace_file)) {
    complain(
        fmt::format("'{}' wrote no trace: {}", program,
                    end.signal != 0 ? "it was ended by a signal" : "it uses no runtime, or ended by _exit"));
    return;
  }
  try {
    write_profiles(read_trace(trace_file), options, "sukima explain -- " + program, stderr);
  } catch (const process::usage_error& error) {  // the command line was right, the trace was not
    complain(error.what());
  } catch (const std::system_error& error) {  // the exit code stays the program's
    complain(error.what());
  }
}

int run_and_explain(const explain_options& options, const std::vector<std::string>& program) {
  process::program_end end;
  {
    const process::temporary_directory directory("explain");
    const std::string file = directory.path() + "/trace.json";
    end = process::run_program(program, process::environment_with({"SUKIMA_TRACE=" + file}));
    if (!options.keep.empty() && std::filesystem::exists(file)) {
      std::error_code failure;
      std::filesystem::copy_file(file, options.keep, std::filesystem::copy_options::overwrite_existing,
                                 failure);
      if (failure)
        complain(fmt::format("the trace cannot be kept as '{}': {}", options.keep, failure.message()));
    }
    explain_program(program.front(), end, file, options);
  }
  if (end.signal != 0) {
    process::end_by(end.signal);
    return 128 + end.signal;  // reached if the signal does not end this process
  }
  return end.exit_code;
}

}  // namespace

void declare(CLI::App& command, int& code, program_words program) {
  auto options = std::make_shared<explain_options>();
  command.footer(footer);
  command.add_option("FILE", options->file, "A trace: the file that SUKIMA_TRACE named for a program");
  command.add_flag("--json", options->json, "Print one JSON object");
  command.add_option("--html", options->html, "Also write a page with a timeline to this file")
      ->type_name("FILE");
  command.add_option("--keep", options->keep, "Keep the trace of PROGRAM in this file")->type_name("FILE");
  command.callback([options, &code, program = std::move(program)] {
    if (program.has_value()) {
      if (!options->file.empty())
        throw process::usage_error(fmt::format(
            "explain takes a file or, after --, a program; '{}' and '--' are both given", options->file));
      if (program->empty())
        throw process::usage_error("no program was given after --: sukima explain -- PROGRAM ARGUMENT...");
      code = run_and_explain(*options, *program);
      return;
    }
    if (options->file.empty())
      throw process::usage_error(
          "nothing to explain: give a trace file, or a program: sukima explain -- PROGRAM");
    if (!options->keep.empty())
      throw process::usage_error(
          "--keep is for the trace of a program: sukima explain --keep FILE -- PROGRAM");
    write_profiles(read_trace(options->file), *options, "sukima explain " + options->file, stdout);
    code = process::exit_success;
  });
}

}  // namespace sukima::cli::explain
