#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy with the compile database of a build folder in which each source is compiled by itself.
#   check-tidy.sh [--quick] [--changed REVISION] [--at-most N] [BUILD_FOLDER]
# BUILD_FOLDER: build/tidy, which `cmake --preset tidy` configures.
# --quick: without the static analyzer, a third of the time.
# --changed: only the sources that differ from REVISION (and those beside a header that does). REVISION can be
#   `previous`: where this branch left origin/main or main, or the commit before this one.
# --at-most: of more sources than N, only N, those that changed most first; says how many are left out.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "check-tidy.sh: $1" >&2
  exit 2
}

# The last commit that is not of this branch.
previous() {
  local revision
  for revision in origin/main main; do
    revision=$(git merge-base HEAD "$revision" 2>/dev/null) || continue
    if [[ $revision != "$(git rev-parse HEAD)" ]]; then
      echo "$revision"
      return
    fi
  done
  git rev-parse -q --verify 'HEAD^' || git rev-parse HEAD
}

checks=()
revision=
most=
while [[ ${1:-} == --* ]]; do
  case $1 in
    --quick) checks=(--checks=-clang-analyzer-*) ;;
    --changed)
      [[ $# -ge 2 ]] || fail "--changed needs a revision, such as --changed main"
      revision=$2
      if [[ $revision == previous ]]; then revision=$(previous); fi
      git rev-parse --verify -q "$revision^{commit}" >/dev/null || fail "there is no revision '$revision'"
      shift
      ;;
    --at-most)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail "--at-most needs a number, such as --at-most 40"
      most=$2
      shift
      ;;
    *) fail "unknown option '$1'; give --quick, --changed REVISION or --at-most N" ;;
  esac
  shift
done
[[ $# -le 1 ]] || fail "too many arguments: '$*'; give options and at most one build folder"
folder=${1:-}
[[ -n $folder ]] || folder=build/tidy
[[ -e $folder/compile_commands.json ]] || fail "$folder has no compile_commands.json; run 'cmake --preset tidy' first"
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
  # Those with the most changed lines first.
  mapfile -t files < <(sources | while read -r source; do
    stem=${source%.*}
    lines=$(git diff --numstat "$revision" -- "$source" "$stem.h" "$stem.hpp" | awk '{n += $1 + $2} END {print n + 0}')
    if [[ $lines -gt 0 ]]; then echo "$lines $source"; fi
  done | sort -k1,1nr -k2 | cut -d' ' -f2-)
else
  mapfile -t files < <(sources)
fi
if [[ ${#files[@]} -eq 0 ]]; then
  [[ -n $revision ]] || fail "$folder compiles nothing of this folder; run 'cmake --preset tidy' first"
  echo "No source differs from $revision"
  exit 0
fi
if [[ -n $most && ${#files[@]} -gt $most ]]; then
  echo "Of ${#files[@]} sources only the $most that changed most; 'make tidy' looks at all"
  files=("${files[@]:0:$most}")
fi
# -Wno-…: the database may come from g++, whose warning options clang need not know.
printf '%s\0' "${files[@]}" |
  xargs -0 -n 2 -P "$(nproc)" "$runner" -p "$folder" --quiet "${checks[@]}" --extra-arg=-Wno-unknown-warning-option
echo "${#files[@]} sources are free of findings"
