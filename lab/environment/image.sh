# SPDX-License-Identifier: Apache-2.0
# The common beginning of the scripts that make images, which source it with their arguments: $here (this folder),
# $folder (of the image), $programs, and functions. Ends the script with 2 for wrong use, with 77 where a tool is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# give_up CODE MESSAGE
give_up() {
  echo "$(basename "$0"): $2" >&2
  exit "$1"
}

if [[ $# -lt 1 ]]; then give_up 2 "give the folder of the image, and the programs that go into it"; fi
folder=$(mkdir -p "$1" && cd "$1" && pwd)
programs=("${@:2}")
for tool in busybox cpio; do
  command -v "$tool" >/dev/null || give_up 77 "there is no $tool here: apt-get install busybox-static cpio"
done

# fetch SYSTEM KERNEL [PACKAGE…]: fetches the newest kernel of the package KERNEL, and the packages, into the folder
# $fetched, in the cache where there is one, which goes away with the script; if the script is killed, at the next call.
# Ends it with 77 where SYSTEM cannot be fetched. One at a time.
fetch() {
  local system=$1 kernel
  fetched=${cache:-$folder}/fetched
  rm -rf "$fetched"
  mkdir "$fetched"
  trap 'rm -rf "$fetched"' EXIT
  kernel=$(apt-cache depends "$2" 2>/dev/null | awk '/Depends: linux-image/ {print $2; exit}')
  if [[ -z $kernel ]] || ! (cd "$fetched" && apt-get download "$kernel" "${@:3}" >/dev/null 2>&1); then
    give_up 77 "$system cannot be fetched: apt-get update, and try again"
  fi
}

# make_system ROOT INIT [FOLDER…]: an empty system with busybox, these folders, and the script INIT as its first program.
make_system() {
  local root=$1 init=$2 inner
  shift 2
  rm -rf "$root"
  mkdir -p "$root"/{bin,dev,proc,sys,run,tmp,lib/modules}
  for inner in "$@"; do mkdir -p "$root/$inner"; done
  cp "$(command -v busybox)" "$root/bin/busybox"
  cp "$init" "$root/init"
  chmod +x "$root/init"
}

# libraries_of PROGRAM: the paths of the libraries that it needs, one a line; none for a static program.
libraries_of() {
  { ldd "$1" 2>/dev/null || true; } | { grep -o '/[^ ]*' || true; }
}

# add_modules ROOT MODULES NAME…: the kernel's modules of these names below the folder MODULES, to be loaded in this
# order. One that is not there is built into the kernel.
add_modules() {
  local root=$1 modules=$2 name file
  shift 2
  for name in "$@"; do
    file=$(find "$modules" -name "$name.ko" | head -n 1)
    [[ -z $file ]] && continue
    cp "$file" "$root/lib/modules/"
    echo "$name.ko"
  done >"$root/lib/modules/order"
}

# pack ROOT FILE: the system as what a kernel starts with.
pack() {
  (cd "$1" && find . | cpio -o -H newc --quiet | gzip -1) >"$2.new"
  mv "$2.new" "$2"
}
