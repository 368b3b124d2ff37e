// SPDX-License-Identifier: Apache-2.0
// `sukima explain`: its options, and how a request is carried out.

#include <capacity/shared/output_file.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include <base/shared/interruption.hpp>
#include <base/shared/program.hpp>
#include <base/shared/temporary_directory.hpp>
#include "explain/page.hpp"
#include "explain/run_profile.hpp"
#include "explain/trace_file.hpp"
#include "shared/cluster_run.hpp"
#include "shared/commands.hpp"
#include "shared/console.hpp"
#include "shared/reports.hpp"

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
  sukima cluster run -n 4 --json nodes.json -- ./solver 12
  sukima explain nodes.json                 explain the messages of several nodes

The trace also opens in https://ui.perfetto.dev and chrome://tracing.)";

constexpr const char* unwritten_explanation = "the explanation cannot be written";
constexpr const char* unwritten_page = "the page cannot be written to";

/// Copies a trace. \return 0, or an error number
int keep_trace(const std::string& trace, const std::string& file) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> from(std::fopen(trace.c_str(), "re"), std::fclose);
  if (from == nullptr) return errno;
  cap_output_file to;
  if (const int error = cap_output_open(&to, file.c_str()); error != 0) return error;
  std::vector<char> piece(std::size_t{1} << 16);
  for (std::size_t count; (count = std::fread(piece.data(), 1, piece.size(), from.get())) > 0;)
    if (std::fwrite(piece.data(), 1, count, to.stream) != count) break;
  const bool whole = std::feof(from.get()) != 0;
  const int error = cap_output_close(&to, whole);
  return error != 0 || whole ? error : EIO;
}

void print_explanation(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw std::system_error(errno, std::generic_category(), unwritten_explanation);
}

/// The explanation of a trace.
struct explanation {
  std::string text;
  std::string page;  ///< empty: none is wanted
};

/// \param title the name of the explained run
explanation explanation_of(const recorded_trace& trace, const explain_options& options,
                           const std::string& title) {
  const std::vector<runtime_profile> profiles = profiles_of(trace);
  const auto json = [&] {
    return nlohmann::json{{"runtimes", json_of(profiles)}, {"clones", json_of(trace.clones)}};
  };
  return {.text = options.json ? json().dump(2) + "\n" : text_of(profiles) + text_of(trace.clones),
          .page = options.html.empty() ? "" : page_of(trace, profiles, title)};
}

/// \param written  receives the failures
void explain_program(const std::string& program, const process::program_end& end,
                     const std::string& trace_file, const explain_options& options, reports& written) {
  if (!std::filesystem::exists(trace_file)) {
    complain(fmt::format(
        "'{}' wrote no trace: {}", program,
        end.signal != 0 ? "it was ended by a signal" : "it does not use Sukima, or ended by _exit"));
    return;
  }
  try {
    const explanation found = explanation_of(parse_trace(read_text_to_explain(trace_file), trace_file),
                                             options, "sukima explain -- " + program);
    written.print(found.text, unwritten_explanation);
    if (!options.html.empty()) written.write_file(options.html, found.page, unwritten_page);
  } catch (const process::usage_error& error) {  // the command line is right, but the trace is not
    written.fail(error.what());
  }
}

/// \param text  the JSON that `sukima cluster run --json` has written
void explain_cluster_run(const std::string& text, const explain_options& options) {
  if (!options.html.empty())
    throw process::usage_error(fmt::format(
        "'{}' describes a run on several nodes, which --html cannot draw: leave --html out", options.file));
  const cluster_run run = read_cluster_run(text, options.file);
  const std::vector<std::string> advice = advice_on(run);
  if (options.json) {
    nlohmann::ordered_json whole = json_of(run);
    whole["totals"] = totals_of(run);
    whole["advice"] = advice;
    print_explanation(whole.dump(2) + "\n");
    return;
  }
  std::string explanation = text_of(run) + "\nTo try:\n";
  for (const std::string& sentence : advice) explanation += in_lines(sentence);
  print_explanation(explanation);
}

/// \returns the exit code
int explain_file(const explain_options& options) {
  expect_writable(options.html, unwritten_page, "--html");
  if (std::error_code unknown; std::filesystem::equivalent(options.file, options.html, unknown))
    throw process::usage_error(fmt::format(
        "the page would replace the trace '{}' that it shows: give --html another file", options.file));
  const std::string text = read_text_to_explain(options.file);
  if (is_cluster_run(text)) {
    explain_cluster_run(text, options);
    return process::exit_success;
  }
  const explanation found =
      explanation_of(parse_trace(text, options.file), options, "sukima explain " + options.file);
  print_explanation(found.text);
  // The page comes last: if it cannot be written, the explanation is still printed.
  reports written;
  if (!options.html.empty()) written.write_file(options.html, found.page, unwritten_page);
  return written.failed() ? process::exit_failure : process::exit_success;
}

int run_and_explain(const explain_options& options, const std::vector<std::string>& program) {
  expect_writable(options.keep, "the trace cannot be written to", "--keep");
  expect_writable(options.html, unwritten_page, "--html");
  process::program_end end;
  int code = process::exit_success;
  {
    const process::temporary_directory directory("explain");
    const process::removed_on_signal cleanup(directory.path(), process::directory_contents::files);
    const std::string file = directory.path() + "/trace.json";
    end = process::run_program(program, process::environment_with({"SUKIMA_TRACE=" + file}));
    reports written;
    if (!options.keep.empty() && std::filesystem::exists(file))
      if (const int error = keep_trace(file, options.keep); error != 0)
        written.fail(fmt::format("the trace cannot be kept as '{}': {}", options.keep, std::strerror(error)));
    explain_program(program.front(), end, file, options, written);
    code = written.code_after(end.exit_code);
  }
  if (end.signal != 0) {
    process::end_by(end.signal);
    return 128 + end.signal;  // the signal did not end this process
  }
  return code;
}

}  // namespace

void declare(CLI::App& command, int& code, program_arguments program) {
  auto options = std::make_shared<explain_options>();
  command.footer(footer);
  command.add_option(
      "FILE", options->file,
      "A trace: the file that SUKIMA_TRACE named for a program; or a run of several nodes: the file "
      "of sukima cluster run --json");
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
    code = explain_file(*options);
  });
}

}  // namespace sukima::cli::explain
