#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# in_new_environment.sh FOLDER TEST [PACKAGE…]
# installs the wheel in FOLDER with pip into a new virtual environment, and the PACKAGEs from PyPI, and runs TEST there.
# Ends with 77 where PyPI cannot be reached, or Python cannot make virtual environments.
set -euo pipefail
wheels=("$1"/sukima-*.whl) test=$2
shift 2
[[ -e ${wheels[0]} ]] || { echo "in_new_environment.sh: no wheel in the folder; build it with: make wheel"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Debian's Python first: the wheel is promised for it.
python=/usr/bin/python3
[[ -x $python ]] || python=$(command -v python3)
if ! "$python" -m venv "$work/venv" > "$work/log" 2>&1; then
  cat "$work/log"
  echo "no virtual environment can be made here: install python3-venv"
  exit 77
fi
pip=("$work/venv/bin/pip" --disable-pip-version-check install --quiet)
"${pip[@]}" --no-index "${wheels[0]}"
if [[ $# -gt 0 ]] && ! "${pip[@]}" "$@"; then
  echo "these packages cannot be fetched here: $*"
  exit 77
fi
helpers=$(cd "$(dirname "$0")/../clients" && pwd)
cd "$work"
# What the user's own settings would change.
env -u OMP_NUM_THREADS -u OPENBLAS_NUM_THREADS -u SUKIMA_CPUS -u LD_PRELOAD PYTHONPATH="$helpers" \
  PYTHONDONTWRITEBYTECODE=1 PATH="$work/venv/bin:$PATH" "$work/venv/bin/python" "$test"
