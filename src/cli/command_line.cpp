// SPDX-License-Identifier: Apache-2.0
// Parses the command line, and turns every error into one sentence and an exit code; see commands.hpp.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <ranges>
#include <string>
#include <system_error>
#include <vector>

#include <base/shared/limit_advice.hpp>
#include <base/shared/program.hpp>
#include <base/shared/stack_limit.hpp>
#include <base/shared/standard_streams.hpp>
#include "shared/commands.hpp"
#include "shared/console.hpp"
#include "shared/version.hpp"

namespace sukima::cli {
namespace {

constexpr const char* unwritten_output = "the output could not be written to standard output";

/// The long names of a command's options, for messages.
std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string command_names() {
  return join_words(all_commands() | std::views::transform(&command_entry::name));
}

/// Returns the sentence for arguments that the parser could not assign.
std::string sentence_on_surplus(const CLI::App& command, const std::string& called,
                                const std::string& argument) {
  if (!argument.starts_with('-'))
    return fmt::format("'{}' is one argument too many for {} (see {} --help)", argument, called, called);
  return fmt::format("unknown option '{}' of {}: the options are {}", argument, called,
                     join_words(option_names(command), " and "));
}

/// Returns the actions of a command, as its option ACTION describes them: "TEXT:{list,run}". Empty if there
/// is no such option.
std::vector<std::string> actions_of(CLI::App& command) {
  const CLI::Option* const action = command.get_option_no_throw("ACTION");
  if (action == nullptr) return {};
  const std::string type = action->get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}', open);
  if (close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

/// Returns the sentence for a command line that ends too early.
std::string sentence_on_missing(CLI::App* command, const std::string& reason) {
  if (command == nullptr)
    return fmt::format("no command was given: choose {} (see sukima --help)", command_names());
  const std::vector<std::string> actions = actions_of(*command);
  return fmt::format("{} (see sukima {} --help)",
                     actions.empty() ? reason : "no action was given: choose " + join_words(actions),
                     command->get_name());
}

/// Returns the sentence for an option with too few or too many values. CLI11's own message ends with its
/// rule: "--threads: 1 required N:UINT in [1 - 65536] missing", "--threads: At Most 1 required but received
/// 2".
std::string sentence_on_count(const std::string& reason) {
  const std::string option = reason.substr(0, reason.find(": "));
  return option + (reason.find(" received ") != std::string::npos ? " was given more than once: give it once"
                                                                  : " needs a value: write it behind");
}

/// Returns one sentence that states the error of the command line.
std::string sentence_on(const CLI::App& program, const CLI::ParseError& error) {
  auto parsed = program.get_subcommands();
  if (!program.remaining().empty()) parsed.clear();  // the error is before the command's name
  const CLI::App& command = parsed.empty() ? program : *parsed.front();
  const std::string called = parsed.empty() ? "sukima" : "sukima " + command.get_name();
  const std::vector<std::string> unknown = program.remaining(true);
  const bool is_incomplete = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (is_incomplete && unknown.empty())
    return sentence_on_missing(parsed.empty() ? nullptr : parsed.front(), error.what());
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return fmt::format("{} (see {} --help)", sentence_on_count(error.what()), called);
  if (!is_incomplete && dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr)
    return fmt::format("{} (see {} --help)", error.what(), called);
  const std::string argument = unknown.empty() ? "" : unknown.front();
  if (parsed.empty() && !argument.starts_with('-'))
    return fmt::format("unknown command '{}': choose {}", argument, command_names());
  return sentence_on_surplus(command, called, argument);
}

/// Makes all options and arguments of this command refuse empty values. An unset variable of a script, as in
/// `--root "$folder"`, must not act like an option that was left out. An option's existing checks run first,
/// with their own sentences.
void refuse_empty_values(CLI::App& command) {
  for (CLI::Option* const option : command.get_options()) {
    if (option->get_items_expected_max() == 0) continue;  // a flag
    option->check([](const std::string& value) {
      return std::string(value.empty() ? "'' was given: give a value, or leave it out" : "");
    });
  }
}

/// Returns the option of that name, of a command or of the program itself; null if there is none.
const CLI::Option* option_named(const CLI::App& program, const std::string& name) {
  for (const CLI::App* const command : program.get_subcommands(nullptr))
    if (const CLI::Option* const option = command->get_option_no_throw(name)) return option;
  return program.get_option_no_throw(name);
}

/// Refuses values of flags: the parser would drop the value of `--json=no`, or take it as the flag's.
/// \throws process::usage_error
void refuse_values_of_flags(const CLI::App& program, int argc, const char* const* argv) {
  bool is_value = false;  // of the option before
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::string name = argument.substr(0, argument.find('='));
    const CLI::Option* const option =
        name.starts_with("--") && !is_value ? option_named(program, name) : nullptr;
    const bool is_flag = option != nullptr && option->get_items_expected_max() == 0;
    if (is_flag && name.size() != argument.size()) {
      const bool has_command = argc > 1 && find_command(argv[1]) != nullptr;
      throw process::usage_error(fmt::format("{} takes no value: leave '{}' out (see sukima {}--help)", name,
                                             argument.substr(name.size()),
                                             has_command ? std::string(argv[1]) + " " : ""));
    }
    is_value = option != nullptr && !is_flag && name.size() == argument.size();
  }
}

/// Parses the command line, and runs the command while parsing. \returns the exit code
int parse(CLI::App& program, const int& code, int argc, const char* const* argv) {
  try {
    refuse_values_of_flags(program, argc, argv);
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help and --version
    complain(sentence_on(program, error));
    return process::exit_usage;
  } catch (const process::usage_error& error) {
    complain(error.what());
    return process::exit_usage;
  } catch (const process::start_error& error) {
    complain(error.what());
    return error.code();
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) != 0) {
      complain(unwritten_output);  // the exception of fmt::print
      return process::exit_failure;
    }
    const bool is_errno = error.code().category() == std::generic_category() ||
                          error.code().category() == std::system_category();
    complain(fmt::format("{}{}", error.what(), advice_on_limit(is_errno ? error.code().value() : 0)));
    return process::exit_failure;
  } catch (const std::bad_alloc&) {
    complain(fmt::format("there is too little memory{}", advice_on_limit(ENOMEM)));
    return process::exit_failure;
  } catch (const std::exception& error) {
    // The exception of fmt::print only says "cannot write to file".
    const bool is_of_output = std::ferror(stdout) != 0;
    complain(is_of_output ? unwritten_output : error.what());
    return process::exit_failure;
  }
  return code;
}

}  // namespace

int run_command_line(std::span<const declared_command> here, int argc, char** argv) {
  process::occupy_closed_streams();
  if (const std::string trouble = process::trouble_with_stack_limit(); !trouble.empty()) {
    complain(trouble);
    return process::exit_usage;
  }
  CLI::App program("Sukima runs parallel programs on the CPU they actually get.", "sukima");
  program.set_version_flag("--version", fmt::format("sukima {}", sukima_version));
  program.require_subcommand(1);
  program.footer("'sukima COMMAND --help' describes a command. Manual page: man sukima.");
  int code = process::exit_success;
  const command_entry* const called = argc > 1 ? find_command(argv[1]) : nullptr;
  for (const command_entry& entry : all_commands()) {
    if (called != nullptr && called != &entry) continue;  // declaring the others would only cost time
    CLI::App* const command = program.add_subcommand(std::string(entry.name), entry.description);
    const auto declared = std::ranges::find(here, entry.name, &declared_command::name);
    if (declared == here.end()) continue;  // the help needs only its line
    program_arguments arguments;
    if (entry.starts_a_program) arguments = process::take_program(entry.name, argc, argv);
    declared->declare(*command, code, std::move(arguments));
    if (entry.name != "bench") refuse_empty_values(*command);  // bench has its own sentences for them
  }
  const int result = parse(program, code, argc, argv);
  // The disk may be full, or the device may accept no data.
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && result == process::exit_success) {
    complain(unwritten_output);
    return process::exit_failure;
  }
  return result;
}

int run_as_program(declared_command command, int argc, char** argv) {
  std::string program = "sukima", name(command.name);
  std::vector<char*> arguments{program.data(), name.data()};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  arguments.push_back(nullptr);
  return run_command_line({&command, 1}, static_cast<int>(arguments.size()) - 1, arguments.data());
}

}  // namespace sukima::cli
