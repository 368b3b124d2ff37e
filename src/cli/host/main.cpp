// SPDX-License-Identifier: Apache-2.0
// The program sukima-host, which `sukima host` starts.
#include "shared/commands.hpp"

int main(int argc, char** argv) {
  return sukima::cli::run_as_program({"host", sukima::cli::host::declare}, argc, argv);
}
