// SPDX-License-Identifier: Apache-2.0
// sukima-cc, the program that `sukima cc` starts.
#include <base/shared/errors.hpp>
#include <base/shared/standard_streams.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "driver/driver.hpp"
#include "driver/process.hpp"

namespace {

constexpr const char* help =
    R"(Usage: sukima cc [OPTION]... FILE...

Compiles Tascell (.tc) and C programs and links them with the Sukima runtime. Accepts the options of gcc
and clang (-c -S -E -o -I -D -O -g -std= -W... -l -L -MD -shared -fPIC ...) and @FILE, a file of options.
All files except .tc go to the C compiler unchanged.

Options:
  --backend=COMPILER   compile the generated C with COMPILER (default: $SUKIMA_CC, or gcc)
  --launcher=PROGRAM   start the C compiler through PROGRAM, such as ccache; repeat it for its arguments
  --emit-c             write the C translation of one .tc file to stdout, or to FILE with -o FILE
  --sequential         omit everything parallel: compile to plain, sequential C
  --no-clones          omit the sequential clones of worker functions: smaller code, slower short calls
  --cluster            link the libraries that 'cluster worker' functions need
  -fcheck-closures     end the program when a closure is called after its block was left
  -fclosures=KIND      implement closures by 'frame' (default), 'unwind' or 'exceptions'
  -x tc                treat the following files as Tascell, whatever their names are
  -MJ FILE             write a compilation database entry for each source to FILE
  -v                   print the commands that run
  -###                 print the commands without running them
  --help               print this text
  --version            print the versions of sukima cc and of the C compiler

Examples:
  sukima cc -O3 -o pen pen.tc helper.c -lm
  sukima cc -O2 -Wall -c search.tc
  make CC='sukima cc'

Manual: man sukima-cc. Language reference: docs/language.md.
)";

}  // namespace

int main(int argc, char** argv) {
  using namespace sukima::language;
  sukima::process::occupy_closed_streams();
  try {
    const command_line line = read_command_line(std::vector<std::string>(argv + 1, argv + argc));
    if (line.help) {
      std::fputs(help, stdout);
      return std::fflush(stdout) == 0 ? 0 : 1;
    }
    if (line.version) {
      std::printf("sukima cc %s\n", SUKIMA_VERSION);
      if (std::fflush(stdout) != 0) return 1;
      return become_program({line.backend, "--version"});
    }
    return drive(line, read_toolchain());
  } catch (const command_line_error& error) {
    std::fprintf(stderr, "sukima cc: %s\n", error.what());
    return 2;
  } catch (const sukima::process::usage_error& error) {
    std::fprintf(stderr, "sukima cc: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sukima cc: %s\n", error.what());
    return 1;
  }
}
