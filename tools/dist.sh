#!/usr/bin/env bash
# Builds the wheels from what is committed: a copy of the tree in which the subjects and
# studies lie inside the package, where an installed wheel looks. One wheel per architecture;
# the other one's is cross-compiled, and tried in an emulator where there is one. The engine is
# static, so that one wheel is for glibc and musl alike.
# Usage: tools/dist.sh [x86_64] [aarch64]   (default: both)
#        tools/dist.sh --lay-out FOLDER [COMMIT]   only copies the tree so (default: HEAD)
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD
stage=build/dist

main() {
  if [[ ${1:-} == --lay-out ]]; then
    lay_out "${2:?a folder}" "${3:-HEAD}"
    return
  fi
  local architectures=("$@") architecture
  ((${#architectures[@]} > 0)) || architectures=(x86_64 aarch64)
  for architecture in "${architectures[@]}"; do
    [[ $architecture == x86_64 || $architecture == aarch64 ]] ||
      fail "unknown architecture '$architecture': x86_64 or aarch64"
    provide_target "$architecture"
  done
  rm -rf "$stage"
  mkdir -p dist
  lay_out "$stage" HEAD
  for architecture in "${architectures[@]}"; do
    build_wheel "$architecture"
    try_engine "$architecture"
  done
  rm -rf "$stage"
  ls -1 dist/*.whl
}

# The standard library and the linker for an architecture.
provide_target() {
  local target=$1-unknown-linux-gnu debian=amd64
  [[ $1 != aarch64 ]] || debian=arm64
  if ! has_std "$target"; then
    if has rustup && [[ $(command -v cargo) == "${CARGO_HOME:-$HOME/.cargo}"/bin/* ]]; then
      rustup target add "$target" || fail "no standard library for $target: rustup target add $target"
    elif has dpkg && ((EUID == 0)); then
      dpkg --add-architecture "$debian"
      apt_install "$(std_package):$debian"
    fi
    has_std "$target" || fail "no standard library for $target: install it as your Rust came (rustup target add $target)"
  fi
  if [[ $1 != "$(uname -m)" ]] && ! has "$1-linux-gnu-gcc"; then
    apt_install "gcc-${1/_/-}-linux-gnu" "libc6-dev-$debian-cross"
  fi
}

has_std() { compgen -G "$(rustc --print sysroot)/lib/rustlib/$1/lib/libstd-*.rlib" >/dev/null; }

std_package() {
  dpkg -S "$(readlink -f "$(command -v rustc)")" | grep -q '^rustc-web' && echo libstd-rust-web-dev || echo libstd-rust-dev
}

apt_install() {
  has apt-get && ((EUID == 0)) || fail "missing $*: install it (apt-get install $* as root)"
  echo "dist: installing $*"
  apt-get -qq update || true
  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >/dev/null ||
    fail "could not install $*"
}

# lay_out FOLDER COMMIT
lay_out() {
  local data
  mkdir -p "$1"
  git archive "$2" | tar -x -C "$1"
  for data in subjects studies; do
    mv "$1/$data" "$1/python/wiretrial/_$data"
  done
}

build_wheel() {
  local target=$1-unknown-linux-gnu flags variable
  # A static libc, so that the engine runs on any Linux, old or bare; and no folder
  # of this machine in its messages. The libc is glibc: musl copies and compares memory so slowly
  # that a message of 16 KiB costs the engine half as much again.
  flags="-C target-feature=+crt-static"
  flags+=" --remap-path-prefix=$root/$stage=wiretrial"
  flags+=" --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src=crates"
  if [[ $1 != "$(uname -m)" ]]; then
    variable=${target//-/_}
    export "CARGO_TARGET_${variable^^}_LINKER=$1-linux-gnu-gcc" "CC_$variable=$1-linux-gnu-gcc"
  fi
  (cd "$stage" && RUSTFLAGS=$flags CARGO_TARGET_DIR="$root/target" "$root/.venv/bin/maturin" build \
    --quiet --profile dist --locked --target "$target" --auditwheel check \
    --compatibility manylinux_2_17 --out "$root/$stage/wheels")
  # An engine without libraries is right for musl as well, which maturin says only of one linked with it.
  "$root/.venv/bin/python" -m wheel tags --platform-tag "+musllinux_1_1_$1" "$stage"/wheels/*_"$1".whl >/dev/null
  mv "$stage"/wheels/*.musllinux_1_1_"$1".whl dist/
}

# A thousand verified messages from the engine to itself.
try_engine() {
  local emulator=() engine=target/$1-unknown-linux-gnu/dist/wiretrial-engine log answering
  if [[ $1 != "$(uname -m)" ]]; then
    if ! has "qemu-$1-static"; then
      echo "dist: the engine for $1 is not tried: no qemu-$1-static (Debian: qemu-user-static)"
      return
    fi
    emulator=("qemu-$1-static")
  fi
  log=$(mktemp)
  "${emulator[@]}" "$engine" respond --http 127.0.0.1:0 --poller epoll >"$log" 2>&1 &
  answering=$!
  # shellcheck disable=SC2064
  trap "kill $answering 2>/dev/null || true; rm -f $log" EXIT
  local url= tries
  for ((tries = 0; tries < 100; tries++)); do
    url=$(grep -om1 '127\.0\.0\.1:[0-9]*' "$log" || true)
    [[ -z $url ]] || break
    sleep 0.1
  done
  [[ -n $url ]] || fail "the engine for $1 does not serve: $(cat "$log")"
  "${emulator[@]}" "$engine" load "ws://$url/echo" -c 4 -n 1000 --poller epoll
  kill "$answering"
  wait "$answering" || true
  rm -f "$log"
  trap - EXIT
  echo "dist: the engine for $1 answered 1,000 messages"
}

has() { command -v "$1" >/dev/null; }

fail() {
  echo "dist: $*" >&2
  exit 1
}

main "$@"
