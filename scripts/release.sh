#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes a release of the version that include/sukima/version.h names:
#   release.sh [--url URL]    URL is the folder where the files will be published, for the recipes of package managers
#   release.sh --check        ends after the first step
#   release.sh --prepare      gives the text under "Unreleased" of CHANGELOG.md a section of that version; commit it then
#
# 1. Checks that the tree is clean, that the version is new, that CHANGELOG.md and CITATION.cff name it, and that the
#    contact of the packages is not a placeholder.
# 2. Runs the gate in a fresh clone.
# 3. Builds the packages, the wheel and the reference (HTML with a search box) there, packs the sources, and with --url
#    the recipes of package managers (packaging/). Writes SHA256SUMS beside them.
# 4. Tags the commit vVERSION. It pushes nothing; the last line says which command does.
#
# The files are in build/release-VERSION.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "release.sh: $*" >&2
  exit 2
}

action=release url=
case ${1:-} in
  "") ;;
  --check | --prepare) action=${1#--} ;;
  --url)
    url=${2:-}
    [[ $url =~ ^https?://[^[:space:]]+$ ]] || fail "--url: '$url' is not an address; give one such as https://example.org/files"
    ;;
  *) fail "unknown argument '$1'; give --check, --prepare, --url URL, or nothing" ;;
esac

version=$(sed -nE 's/^#define SUKIMA_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)$/\2/p' include/sukima/version.h | paste -s -d .)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "include/sukima/version.h names no version; define its three numbers"
if [[ $action == prepare ]]; then
  ! grep -qE "^## ${version//./\\.}( |$)" CHANGELOG.md || fail "CHANGELOG.md has a section '## $version' already"
  [[ $(grep -c '^## Unreleased$' CHANGELOG.md) == 1 ]] || fail "CHANGELOG.md has no section '## Unreleased'; add it"
  sed -i "s/^## Unreleased\$/## Unreleased\n\n## $version/" CHANGELOG.md
  echo "release.sh: CHANGELOG.md has a section '## $version'; commit it"
  exit 0
fi
[[ -z $(git status --porcelain) ]] || fail "there are uncommitted changes; commit or remove them"
! git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null ||
  fail "the tag v$version is there already; raise the version in include/sukima/version.h"
grep -qE "^## ${version//./\\.}( |$)" CHANGELOG.md || fail "CHANGELOG.md has no section '## $version'; add it"
grep -qE "^version: ${version//./\\.}$" CITATION.cff || fail "CITATION.cff names another version than $version; change it"
# Text below "Unreleased" belongs to the section of the version.
unreleased=$(sed -n '/^## Unreleased/,/^## [0-9]/p' CHANGELOG.md | grep -vE '^(## .*|)$' || true)
[[ -z $unreleased ]] || fail "CHANGELOG.md has text under 'Unreleased'; move it to the section of $version"
# No mail reaches an address below .invalid (RFC 2606), and SECURITY.md sends reports to the packages' contact.
made_up=$(git grep -lE '@[A-Za-z0-9.-]+\.invalid\b' -- cmake packaging | paste -s -d ' ' || true)
[[ -z $made_up ]] || fail "the contact in $made_up does not exist; write an address there that the maintainers read"
echo "release.sh: version $version can be released"
[[ $action == release ]] || exit 0

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
(cd python && python3 -c 'import sys, backend; backend.build_sdist(sys.argv[1])' "$files")
if [[ -n $url ]]; then
  archive=sukima-$version.tar.gz
  packaging/write_recipes.py "$files/$archive" "$url/$archive" "$clone/sukima-$version-recipes"
  tar --create --gzip --file "$files/sukima-$version-recipes.tar.gz" --directory "$clone" "sukima-$version-recipes"
fi
(cd "$files" && sha256sum -- * >SHA256SUMS)
cd - >/dev/null
git tag --annotate "v$version" --message "Sukima $version" "$commit"
echo "release.sh: the files are in $files; publish with: git push origin v$version"
