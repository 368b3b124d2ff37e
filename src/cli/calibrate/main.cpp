// SPDX-License-Identifier: Apache-2.0
// The program sukima-calibrate, which `sukima calibrate` starts.
#include "shared/commands.hpp"

int main(int argc, char** argv) {
  return sukima::cli::run_as_program({"calibrate", sukima::cli::calibrate::declare}, argc, argv);
}
