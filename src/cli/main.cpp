// SPDX-License-Identifier: Apache-2.0
// The program `sukima`: finds the subcommand, and turns every error into one sentence and an exit code.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <process/shared/program.hpp>
#include "commands.hpp"
#include "console.hpp"
#include "version.hpp"

namespace {

using namespace sukima::cli;
namespace process = sukima::process;

/// The long names of a command's options, for messages.
std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

/// One sentence that says what is wrong with the command line.
std::string sentence_on(const CLI::App& program, const CLI::ParseError& error) {
  const auto parsed = program.get_subcommands();
  const CLI::App& command = parsed.empty() ? program : *parsed.front();
  const std::string called = parsed.empty() ? "sukima" : "sukima " + command.get_name();
  const std::vector<std::string> unknown = program.remaining(true);
  const bool no_command = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (no_command && unknown.empty()) {
    return fmt::format("no command was given: choose {} (see sukima --help)",
                       join_words(command_names(program)));
  }
  if (!no_command && dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) {
    return fmt::format("{} (see {} --help)", error.what(), called);
  }
  const std::string word = unknown.empty() ? "" : unknown.front();
  if (parsed.empty() && !word.starts_with('-')) {
    return fmt::format("unknown command '{}': choose {}", word, join_words(command_names(program)));
  }
  if (!word.starts_with('-'))
    return fmt::format("'{}' is one word too many for {} (see {} --help)", word, called, called);
  return fmt::format("unknown option '{}' of {}: the options are {}", word, called,
                     join_words(option_names(command), " and "));
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto code = cc::become_compiler(argc, argv)) return *code;
  CLI::App program("Sukima runs parallel programs on the CPU they actually get.", "sukima");
  program.set_version_flag("--version", fmt::format("sukima {}", sukima_version));
  program.require_subcommand(1);
  program.footer("'sukima COMMAND --help' describes a command. Manual page: man sukima.");
  int code = process::exit_success;
  bench::add_command(program, code);
  calibrate::add_command(program, code);
  cc::add_command(program);
  cluster::add_command(program, code, process::take_program("cluster", argc, argv));
  explain::add_command(program, code, process::take_program("explain", argc, argv));
  guest::add_command(program, code);
  host::add_command(program, code);
  lab::add_command(program, code);
  objects::add_command(program, code, process::take_program("objects", argc, argv));
  probe::add_command(program, code);
  run::add_command(program, code, process::take_program("run", argc, argv));
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      complain(sentence_on(program, error));
      return process::exit_usage;
    }
    code = program.exit(error);  // --help and --version
  } catch (const process::usage_error& error) {
    complain(error.what());
    return process::exit_usage;
  } catch (const process::start_error& error) {
    complain(error.what());
    return error.code();
  } catch (const std::exception& error) {
    complain(error.what());
    return process::exit_failure;
  }
  // A full disk, or a device that takes nothing.
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && code == process::exit_success) {
    complain("the output could not be written to standard output");
    return process::exit_failure;
  }
  return code;
}
