#!/usr/bin/env bash
# Builds the image of Containerfile from the wheel in dist/, and tries it: a load, a limit and a comparison.
# Usage: tools/image.sh [BASE]
# BASE: an image with Python 3.11 and venv (default: the Containerfile's). `bookworm` or another
# release of Debian: a base is made of its packages first, which needs mmdebstrap and no registry.
# PIP_CERT: a file of authorities that pip trusts while it builds; the image does not keep it.
# PODMAN_BUILD: words for `podman build`, as "--isolation=chroot" where podman can't start a container;
# the image is built then, and not tried.
set -euo pipefail
cd "$(dirname "$0")/.."

context=build/image
name=localhost/wiretrial
# What podman needs to be told here to start a container; `find_start` finds out.
start=()

main() {
  local base=${1:-} words=(--network=host)
  has podman || fail "there is no podman: install it, or build Containerfile with another tool"
  lay_out
  [[ -n $base ]] || base=$(sed -n 's/^ARG BASE=//p' Containerfile)
  if [[ $base != */* && $base != *:* ]]; then
    make_base "$base"
    base=localhost/wiretrial-base:$base
  fi
  podman image exists "$base" || podman pull --quiet "$base" ||
    fail "no image $base: name one that is here, or a release of Debian (make image BASE=bookworm)"
  words+=(--build-arg "BASE=$base")
  [[ -z ${PIP_CERT:-} ]] || words+=(--volume "$PIP_CERT:$PIP_CERT:ro" --build-arg "PIP_CERT=$PIP_CERT")
  if [[ -n ${PODMAN_BUILD:-} ]]; then
    # shellcheck disable=SC2206
    words+=($PODMAN_BUILD)
  else
    find_start "$base"
  fi
  podman build "${start[@]}" "${words[@]}" --tag "$name" --file Containerfile "$context"
  rm -rf "$context"
  if [[ -n ${PODMAN_BUILD:-} ]]; then
    echo "image: $name is built, and was not started"
    return
  fi
  WIRETRIAL_IMAGE=$name WIRETRIAL_PODMAN="${start[*]}" .venv/bin/pytest tests/wheel/test_image.py
  echo "image: podman run --rm --network=host${start[*]:+ ${start[*]}} $name --version"
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

# Podman gives a container 1,048,576 descriptors: who may not raise limits is refused, unless it is told
# fewer. crun refuses a system that has control groups of both versions; runc does not.
find_start() {
  local descriptors processes limits try said=
  descriptors=$(ulimit -Hn)
  processes=$(ulimit -Hu)
  [[ $processes != unlimited ]] && ((processes < 32768)) || processes=32768
  limits="--ulimit nofile=$descriptors:$descriptors --ulimit nproc=$processes:$processes"
  for try in "" "$limits" "--runtime=runc" "--runtime=runc $limits"; do
    # shellcheck disable=SC2206
    start=($try)
    said=$(podman run --rm --network=host "${start[@]}" --entrypoint=true "$1" 2>&1) && return
  done
  fail "podman can't start a container here (to build one all the same: PODMAN_BUILD=--isolation=chroot): ${said##*$'\n'}"
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
