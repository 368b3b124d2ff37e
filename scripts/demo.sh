#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Compares Sukima with its peers on a search and on a numeric problem, on an idle machine and on one that gives less
# CPU than asked for. Prints a table; writes build/demo/peers.png, .svg and .csv. More arguments go to `sukima bench`.
set -euo pipefail
cd "$(dirname "$0")/.."

program=build/demo/bin/sukima
if [[ ! -x $program ]]; then
  echo "demo.sh: $program is not there; run 'make demo'" >&2
  exit 2
fi
"$program" bench pentomino grav --scenario alone,overworked --repetitions 3 \
  --plot build/demo/peers --csv build/demo/peers.csv "$@"
echo
echo "Plot: build/demo/peers.png and build/demo/peers.svg; figures: build/demo/peers.csv"
