// SPDX-License-Identifier: Apache-2.0
// The table of commands. Starts commands that are separate programs; see commands.hpp.
#include "shared/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <base/shared/installed.hpp>
#include "shared/console.hpp"

namespace sukima::cli {
namespace {

constexpr std::array<command_entry, 11> commands{{
    {"bench", "Measures Sukima, the best sequential program and other systems, in interleaved rounds",
     "sukima-bench", "SUKIMA_BUILD_LAB", false},
    {"calibrate", "Measures which CPUs slow each other down, and what waking and switching cost", "sukima",
     "SUKIMA_BUILD_CLI", false},
    {"cc", "Compiles programs of the Tascell language, and C", "sukima-cc", "SUKIMA_BUILD_COMPILER", false},
    {"cluster", "Runs a program on several nodes that share its tasks", "sukima-cluster",
     "SUKIMA_BUILD_CLUSTER", true},
    {"explain", "Reports where the time of a run went, and what to try", nullptr, nullptr, true},
    {"guest", "Serves a virtual machine: limits its programs, and reports their progress to the host",
     "sukima-host", "SUKIMA_BUILD_HOST", false},
    {"host", "Reports how many CPUs each virtual machine of a host can use, and optimises their use",
     "sukima-host", "SUKIMA_BUILD_HOST", false},
    {"lab", "Repeats experiments on programs that lack CPU, on virtual machines, too", "sukima-lab",
     "SUKIMA_BUILD_LAB", false},
    {"objects", "Finds the fastest way to run a program of concurrent objects", "sukima-objects",
     "SUKIMA_BUILD_OBJECTS", true},
    {"probe", "Reports how many CPUs can be used here, and why", nullptr, nullptr, false},
    {"run", "Runs a program with as many threads as fit the CPU available", nullptr, nullptr, true},
}};

}  // namespace

std::span<const command_entry> all_commands() { return commands; }

const command_entry* find_command(std::string_view name) {
  const auto found = std::ranges::find(commands, name, &command_entry::name);
  return found == commands.end() ? nullptr : found;
}

int become_program(const command_entry& command, char** argv) {
  std::filesystem::path folder;
  try {
    folder = process::private_programs();
  } catch (const std::filesystem::filesystem_error&) {
    // The program was moved, and /proc is missing. The sentence below names the program.
  }
  std::string program = (folder / fmt::format("sukima-{}", command.name)).string();
  argv[1] = program.data();
  execv(program.c_str(), argv + 1);
  const int error = errno;
  const std::string reason = error == ENOENT ? std::string("is not installed")
                                             : fmt::format("cannot be started: {}", std::strerror(error));
  complain(fmt::format(
      "sukima {0} needs the program '{1}', which {2}; install the package {3}, or build Sukima with -D{4}=ON",
      command.name, program, reason, command.package, command.option));
  return process::exit_usage;
}

}  // namespace sukima::cli
