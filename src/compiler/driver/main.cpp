// SPDX-License-Identifier: Apache-2.0
// sukima-cc, the program behind `sukima cc`.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "driver/driver.hpp"
#include "driver/process.hpp"

namespace {

constexpr const char* help =
    R"(Usage: sukima cc [OPTION]... FILE...

Compiles programs in the Tascell language (.tc) and in C, and links them with the runtime of Sukima. The
options are those of gcc and clang: -c -S -E -o -I -D -O -g -std= -W... -l -L -MD -shared -fPIC ..., and
@FILE for a file of options. Files other than .tc are passed to the C compiler as they are.

Options of its own:
  --backend=COMPILER   the C compiler behind: gcc (the default), clang-19, ...; as SUKIMA_CC=COMPILER
  --emit-c             write the C translation of one .tc file, to stdout or to -o FILE
  --sequential         leave out all that is parallel: the program as plain, sequential C
  -fcheck-closures     stop at calls of closures whose block has been left
  -fclosures=WAY       how closures are made: frame (the default), unwind or exceptions
  -x tc                the files behind it are of the Tascell language, whatever their names are
  -MJ FILE             write an entry of a compile database for each source
  -v, -###             print the commands; with -### without running them
  --help, --version    print this text, or the versions

Examples:
  sukima cc -O3 -o pen pen.tc helper.c -lm
  sukima cc -O2 -Wall -c search.tc
  make CC='sukima cc'

The manual: man sukima-cc. The language: docs/language.md.
)";

}  // namespace

int main(int argc, char** argv) {
  using namespace sukima::language;
  try {
    const command_line line = read_command_line(std::vector<std::string>(argv + 1, argv + argc));
    if (line.help) {
      std::fputs(help, stdout);
      return std::fflush(stdout) == 0 ? 0 : 1;
    }
    if (line.version) {
      std::printf("sukima cc %s\n", SUKIMA_VERSION);
      return become_program({line.backend, "--version"});
    }
    return drive(line, read_toolchain());
  } catch (const command_line_error& error) {
    std::fprintf(stderr, "sukima cc: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sukima cc: %s\n", error.what());
    return 1;
  }
}
