// SPDX-License-Identifier: Apache-2.0
// sukima-cc, the program that `sukima cc` starts.
#include <base/shared/errors.hpp>
#include <base/shared/limit_advice.hpp>
#include <base/shared/one_line.hpp>
#include <base/shared/stack_limit.hpp>
#include <base/shared/standard_streams.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

#include "driver/driver.hpp"
#include "driver/help.hpp"
#include "driver/run_program.hpp"

namespace {

void complain(const std::string& message) {
  std::fprintf(stderr, "sukima cc: %s\n", sukima::on_one_line(message).c_str());
}

/// Writes what was printed. \returns whether that succeeded; if not, this reports it
bool flush_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  std::fputs("sukima cc: the output could not be written to standard output\n", stderr);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace sukima::language;
  sukima::process::occupy_closed_streams();
  try {
    if (const std::string trouble = sukima::process::trouble_with_stack_limit(); !trouble.empty())
      throw sukima::process::usage_error(trouble);
    const command_line line = read_command_line(std::vector<std::string>(argv + 1, argv + argc));
    if (line.help) {
      std::fputs(help_text, stdout);
      return flush_output() ? 0 : 1;
    }
    if (line.version) {
      std::printf("sukima cc %s\n", SUKIMA_VERSION);
      if (!flush_output()) return 1;
      return become_program({line.backend, "--version"});
    }
    return drive(line, read_toolchain());
  } catch (const command_line_error& error) {
    complain(error.what());
    return 2;
  } catch (const sukima::process::usage_error& error) {
    complain(error.what());
    return 2;
  } catch (const std::system_error& error) {
    complain(error.what() + std::string(sukima::advice_on_limit(error.code().value())));
    return 1;
  } catch (const std::exception& error) {
    complain(error.what());
    return 1;
  }
}
