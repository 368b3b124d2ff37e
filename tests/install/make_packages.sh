# SPDX-License-Identifier: Apache-2.0
# To be sourced by the tests of the .deb packages and the .tar.gz.

# make_packages CMAKE BUILD: builds all that is packed, and packs it into BUILD/packages.
make_packages() {
  local cmake=$1 build=$2
  { "$cmake" --build "$build" --target sukima_packaged && (cd "$build" && "${cmake%cmake}cpack"); } \
    > "$build/packages.log" 2>&1 || { tail -50 "$build/packages.log"; exit 1; }
}
