// SPDX-License-Identifier: Apache-2.0
// The program sukima-guest, which `sukima guest` starts.
#include "shared/commands.hpp"

int main(int argc, char** argv) {
  return sukima::cli::run_as_program({"guest", sukima::cli::guest::declare}, argc, argv);
}
