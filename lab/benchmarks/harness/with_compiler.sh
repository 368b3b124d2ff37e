#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiler launcher: runs a compile or link command with another compiler than CMake's.
#   with_compiler.sh OTHER CHOSEN ARGUMENT…
other=$1
shift 2
exec "$other" "$@"
