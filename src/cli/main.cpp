// SPDX-License-Identifier: Apache-2.0
// The program `sukima`: runs the light commands itself, and starts the program of each other command.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "light_commands.hpp"
#include "shared/commands.hpp"
#include "shared/console.hpp"

namespace {

using namespace sukima::cli;

/// Turns `sukima --help COMMAND` into `sukima COMMAND --help`.
void put_command_first(int argc, char** argv) {
  const std::string_view first = argc > 2 ? argv[1] : "";
  if ((first == "--help" || first == "-h") && find_command(argv[2]) != nullptr) std::swap(argv[1], argv[2]);
}

}  // namespace

int main(int argc, char** argv) {
  put_command_first(argc, argv);
  const command_entry* const called = argc > 1 ? find_command(argv[1]) : nullptr;
  if (called != nullptr && called->package != nullptr) return become_program(*called, argv);
  if (called != nullptr && !std::ranges::count(light_commands, called->name, &declared_command::name)) {
    complain(
        fmt::format("this copy of sukima was built without the command '{}'; `make build` builds all of them",
                    called->name));
    return sukima::process::exit_usage;
  }
  return run_command_line(light_commands, argc, argv);
}
