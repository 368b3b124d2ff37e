#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
PRESET=${1:-"clang-linux-release"}
cmake --preset "$PRESET" .
cmake --build ./build --parallel 16 --target all
