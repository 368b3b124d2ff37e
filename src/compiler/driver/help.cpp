// SPDX-License-Identifier: Apache-2.0
// The text of `sukima cc --help`. docs/man/sukima-cc.1 describes the same options.
#include "driver/help.hpp"

namespace sukima::language {

const char* const help_text =
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

}  // namespace sukima::language
