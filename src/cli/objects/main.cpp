// SPDX-License-Identifier: Apache-2.0
// The program sukima-objects, which `sukima objects` starts.
#include "shared/commands.hpp"

int main(int argc, char** argv) {
  return sukima::cli::run_as_program({"objects", sukima::cli::objects::declare}, argc, argv);
}
