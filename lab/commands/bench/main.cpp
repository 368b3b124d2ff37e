// SPDX-License-Identifier: Apache-2.0
// The program sukima-bench, which `sukima bench` starts.
#include "bench/command.hpp"

int main(int argc, char** argv) {
  return sukima::cli::run_as_program({"bench", sukima::cli::bench::declare}, argc, argv);
}
