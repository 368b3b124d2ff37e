// SPDX-License-Identifier: Apache-2.0
// `sukima cc`: starting the compiler driver.

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <process/shared/installed.hpp>
#include "commands.hpp"
#include "console.hpp"

namespace sukima::cli::cc {

std::optional<int> become_compiler(int argc, char** argv) {
  if (argc < 2 || std::string_view(argv[1]) != "cc") return std::nullopt;
  std::filesystem::path compiler = "sukima-cc";
  try {
    compiler = process::private_programs() / compiler;
  } catch (const std::filesystem::filesystem_error&) {
    // Without /proc; the sentence below tells.
  }
  execv(compiler.c_str(), argv + 1);
  complain(
      fmt::format("cannot start '{}': {}; this copy of Sukima was built or installed without its compiler",
                  compiler.string(), std::strerror(errno)));
  return process::exit_usage;
}

void add_command(CLI::App& parent) {
  parent.add_subcommand("cc", "Compile programs of the Tascell language, and C");
}

}  // namespace sukima::cli::cc
