#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Shows both halves of Sukima, each in a table and a picture in build/demo:
#   search   a search with all CPUs against peers, tuned and untuned
#   openmp   an OpenMP program, several times at once, with and without `sukima run`
# Further arguments are passed to `sukima bench`.
set -euo pipefail
cd "$(dirname "$0")/../.."

programs=build/demo/bin
if [[ ! -x $programs/sukima ]]; then
  echo "demo.sh: $programs/sukima is not there; run 'make demo'" >&2
  exit 2
fi
# The Python with matplotlib: the user's, the first in PATH, or Debian's.
for python in "${SUKIMA_PYTHON:-}" python3 /usr/bin/python3; do
  if [[ -n $python ]] && "$python" -c 'import matplotlib' 2>/dev/null; then break; fi
done

"$programs/sukima" bench pentomino --workers "$(nproc)" --repetitions 3 \
  --plot build/demo/peers --csv build/demo/peers.csv "$@"
echo
"$python" lab/scripts/demo-openmp.py --programs "$programs" --class W --rounds 3 --setting-seconds 6 \
  --csv build/demo/openmp.csv
"$python" lab/scripts/plot-demo.py build/demo/peers.csv build/demo/openmp.csv build/demo
echo
echo "Pictures: build/demo/search.png and build/demo/openmp.png (and .svg); all rows: build/demo/peers.png"
