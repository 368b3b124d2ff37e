// SPDX-License-Identifier: Apache-2.0
// The program sukima-lab, which `sukima lab` starts.
#include "lab/command.hpp"

int main(int argc, char** argv) {
  return sukima::cli::run_as_program({"lab", sukima::cli::lab::declare}, argc, argv);
}
