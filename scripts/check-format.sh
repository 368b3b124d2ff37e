#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks the format of the tracked C and C++ sources with clang-format, that no line, comments included, is longer
# than 110 characters, and that the licence has a line of its own.
#   check-format.sh          lists the places that must change; exit code 1 if there are any
#   check-format.sh --fix    changes them, except lines that are too long because of a comment
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ $# -gt 1 || ( $# -eq 1 && $1 != --fix ) ]]; then
  echo "check-format.sh: unknown argument '$*'; give --fix, or nothing to check" >&2
  exit 2
fi
formatter=${CLANG_FORMAT:-clang-format-19}
if ! command -v "$formatter" >/dev/null; then
  echo "check-format.sh: $formatter is not installed; run scripts/install-dependencies.sh format, or set CLANG_FORMAT" >&2
  exit 2
fi

if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  mapfile -t files < <(git ls-files -- '*.c' '*.h' '*.cpp' '*.hpp' | while read -r f; do [[ -e $f ]] && echo "$f"; done)
else
  mapfile -t files < <(find . -path ./build -prune -o \( -name '*.[ch]' -o -name '*.[ch]pp' \) -print)
fi
if [[ ${#files[@]} -eq 0 ]]; then
  echo "check-format.sh: no sources found in $PWD" >&2
  exit 2
fi
if [[ ${1:-} == --fix ]]; then
  exec "$formatter" -i "${files[@]}"
fi
failed=0
# clang-format leaves comments as they are.
if LC_ALL=C.UTF-8 grep -nE '^.{111,}$' "${files[@]}"; then
  echo "check-format.sh: these lines are longer than 110 characters; wrap them" >&2
  failed=1
fi
# A comment that is wrapped by mistake together with the licence begins in its line.
if grep -nE 'SPDX-License-Identifier: Apache-2\.0 [^*]' "${files[@]}"; then
  echo "check-format.sh: a line with the licence holds other text; begin the comment in the next line" >&2
  failed=1
fi
if ! "$formatter" --dry-run -Werror "${files[@]}"; then
  echo "check-format.sh: run 'make format'" >&2
  failed=1
fi
[[ $failed -eq 0 ]] || exit 1
echo "${#files[@]} files are well formatted"
