#!/usr/bin/env bash
# Builds the image of Containerfile from the wheel in dist/, and tries it.
# Usage: tools/image.sh [BASE]
# BASE: an image with Python 3.11 and venv (default: the Containerfile's). `bookworm` or another
# release of Debian: a base is made of its packages first, which needs mmdebstrap and no registry.
# PODMAN_BUILD: more words for `podman build`, as "--isolation=chroot" where it can't run containers.
set -euo pipefail
cd "$(dirname "$0")/.."

context=build/image
name=localhost/wiretrial

main() {
  local base=${1:-} words=()
  has podman || fail "there is no podman: install it, or build Containerfile with another tool"
  [[ $base == "" || $base == */* || $base == *:* ]] || make_base "$base"
  [[ $base == "" || $base == */* || $base == *:* ]] || base=localhost/wiretrial-base:$base
  lay_out
  [[ -z $base ]] || words+=(--build-arg "BASE=$base")
  # shellcheck disable=SC2206
  words+=(${PODMAN_BUILD:-})
  podman build "${words[@]}" --tag "$name" --file Containerfile "$context"
  rm -rf "$context"
  podman run --rm --network=host "$name" --version ||
    fail "$name is built, and podman can't run it here: see the line above"
}

make_base() {
  has mmdebstrap || fail "there is no mmdebstrap, which makes a base of Debian's packages: install it"
  podman image exists "localhost/wiretrial-base:$1" && return
  mkdir -p build
  mmdebstrap --quiet --variant=minbase --include=python3-venv,ca-certificates "$1" build/base.tar ||
    fail "no base could be made of Debian $1"
  podman import --quiet build/base.tar "localhost/wiretrial-base:$1"
  rm build/base.tar
}

# Only what goes into the image: the tree has gigabytes of builds.
lay_out() {
  local wheels
  wheels=(dist/wiretrial-*_"$(uname -m)".whl)
  [[ -f ${wheels[0]} ]] || fail "there is no wheel for $(uname -m) in dist/: make wheel"
  ((${#wheels[@]} == 1)) || fail "there are ${#wheels[@]} wheels for $(uname -m) in dist/: leave one"
  rm -rf "$context"
  mkdir -p "$context"
  cp requirements.txt "${wheels[0]}" "$context"
}

has() { command -v "$1" >/dev/null; }

fail() {
  echo "image: $*" >&2
  exit 1
}

main "$@"
