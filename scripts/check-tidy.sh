#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy with the compile database of a build folder.
#   check-tidy.sh [--quick] [--changed REVISION] [BUILD_FOLDER]
# BUILD_FOLDER: build/release-clang, or build/release where that one does not exist.
# --quick: without the static analyzer, a third of the time.
# --changed: only the sources that differ from REVISION (and those beside a header that does).
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "check-tidy.sh: $1" >&2
  exit 2
}

checks=()
if [[ ${1:-} == --quick ]]; then
  checks=(--checks=-clang-analyzer-*)
  shift
fi
revision=
if [[ ${1:-} == --changed ]]; then
  [[ $# -ge 2 ]] || fail "--changed needs a revision, such as --changed main"
  revision=$2
  git rev-parse --verify -q "$revision^{commit}" >/dev/null || fail "there is no revision '$revision'"
  shift 2
fi
[[ $# -le 1 ]] || fail "too many arguments: '$*'; give at most --quick, --changed REVISION and one build folder"
folder=${1:-}
if [[ -z $folder ]]; then
  folder=build/release
  if [[ -e build/release-clang/compile_commands.json ]]; then folder=build/release-clang; fi
fi
[[ -e $folder/compile_commands.json ]] || fail "$folder has no compile_commands.json; run 'make build' first"
runner=${CLANG_TIDY:-clang-tidy-19}
command -v "$runner" >/dev/null || fail "$runner is not installed; run scripts/install-dependencies.sh or set CLANG_TIDY"

# Each source once, although the benchmark programs compile some for two compilers; generated ones are not ours.
sources() {
  python3 - "$folder/compile_commands.json" "$PWD" <<'PYTHON'
import json, os, re, sys
database, root = sys.argv[1:]
files = {os.path.realpath(os.path.join(e["directory"], e["file"])) for e in json.load(open(database))}
# Several sources compiled as one: clang-tidy takes the options of a file beside them.
for unity in [path for path in files if "/Unity/" in path and os.path.exists(path)]:
    files |= set(re.findall(r'^#include "(.*)"$', open(unity).read(), re.MULTILINE))
for path in sorted(files):
    relative = os.path.relpath(path, root)
    if not relative.startswith(("..", "build/")):
        print(relative)
PYTHON
}

if [[ -n $revision ]]; then
  mapfile -t files < <(sources | while read -r source; do
    stem=${source%.*}
    if ! git diff --quiet "$revision" -- "$source" "$stem.h" "$stem.hpp"; then echo "$source"; fi
  done)
else
  mapfile -t files < <(sources)
fi
if [[ ${#files[@]} -eq 0 ]]; then
  [[ -n $revision ]] || fail "$folder compiles nothing of this folder; run 'make build' first"
  echo "No source differs from $revision"
  exit 0
fi
# -Wno-…: the database may come from g++, whose warning options clang need not know.
printf '%s\0' "${files[@]}" |
  xargs -0 -n 2 -P "$(nproc)" "$runner" -p "$folder" --quiet "${checks[@]}" --extra-arg=-Wno-unknown-warning-option
echo "${#files[@]} sources are free of findings"
