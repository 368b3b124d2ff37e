// SPDX-License-Identifier: Apache-2.0
// The program sukima-cluster, which `sukima cluster` starts.
#include "shared/commands.hpp"

int main(int argc, char** argv) {
  return sukima::cli::run_as_program({"cluster", sukima::cli::cluster::declare}, argc, argv);
}
