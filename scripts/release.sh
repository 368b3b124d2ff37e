#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes a release of the version that include/sukima/version.h names: release.sh [--check]
#
# 1. Checks that the tree is clean, that the version is new, and that CHANGELOG.md and CITATION.cff name it.
# 2. Runs the gate in a fresh clone.
# 3. Builds the packages, the wheel and the reference (HTML with a search box) there, and writes SHA256SUMS beside them.
# 4. Tags the commit vVERSION. It pushes nothing; the last line says which command does.
#
# --check ends after the first step. The files are in build/release-VERSION.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "release.sh: $*" >&2
  exit 2
}

only_check=
case ${1:-} in
  "") ;;
  --check) only_check=yes ;;
  *) fail "unknown argument '$1'; give --check, or nothing" ;;
esac

version=$(sed -nE 's/^#define SUKIMA_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)$/\2/p' include/sukima/version.h | paste -s -d .)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "include/sukima/version.h names no version; define its three numbers"
[[ -z $(git status --porcelain) ]] || fail "there are uncommitted changes; commit or remove them"
! git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null ||
  fail "the tag v$version is there already; raise the version in include/sukima/version.h"
grep -qE "^## ${version//./\\.}( |$)" CHANGELOG.md || fail "CHANGELOG.md has no section '## $version'; add it"
grep -qE "^version: ${version//./\\.}$" CITATION.cff || fail "CITATION.cff names another version than $version; change it"
# Text below "Unreleased" belongs to the section of the version.
unreleased=$(sed -n '/^## Unreleased/,/^## [0-9]/p' CHANGELOG.md | grep -vE '^(## .*|)$' || true)
[[ -z $unreleased ]] || fail "CHANGELOG.md has text under 'Unreleased'; move it to the section of $version"
echo "release.sh: version $version can be released"
[[ -z $only_check ]] || exit 0

commit=$(git rev-parse HEAD)
files=$PWD/build/release-$version
clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT
git clone --quiet . "$clone/sukima"
cd "$clone/sukima"
git checkout --quiet "$commit"
bash .ci/run
make package wheel docs
mkdir -p "$files"
find build/release/packages -maxdepth 1 -type f \( -name '*.deb' -o -name '*.tar.gz' -o -name '*.whl' \) \
  -exec cp {} "$files" \;
tar --create --gzip --file "$files/sukima-$version-reference.tar.gz" --directory build/release/docs \
  --transform "s/^html/sukima-$version-reference/" html
(cd "$files" && sha256sum -- * >SHA256SUMS)
cd - >/dev/null
git tag --annotate "v$version" --message "Sukima $version" "$commit"
echo "release.sh: the files are in $files; publish with: git push origin v$version"
