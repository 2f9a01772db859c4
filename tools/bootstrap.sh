#!/usr/bin/env bash
# Makes sure that the tools which the Makefile calls are there. Looks first; calls
# apt-get only for what is missing.
# Usage: tools/bootstrap.sh PYTHON [fuzz] [tests]
# Always: a Python with venv, a C compiler, cargo. fuzz: a C++ compiler. tests: git, Node
# and npm as peers on the wire; in CI curl, Chromium, rsync, Prometheus and PostgreSQL too, since CI skips no test.
set -euo pipefail

python=${1:-python3}
needs_python=3.11
needs_cargo=1.88

main() {
  local need packages=()
  [[ $OSTYPE == linux* ]] ||
    fail "this is $OSTYPE, and wiretrial needs Linux: use a virtual machine or a container (docs/install.md)"
  want cc gcc libc6-dev
  for need in "${@:2}"; do
    case $need in
      fuzz) want c++ g++ ;;
      tests)
        want git git
        want node nodejs
        want npm npm
        if [[ -n ${CI:-} ]]; then
          want curl curl
          want chromium chromium
          want nghttp nghttp2-client
          want rsync rsync
          want prometheus prometheus
          want prometheus-node-exporter prometheus-node-exporter
          # Debian keeps initdb out of PATH; this one comes with it.
          want pg_ctlcluster postgresql
        fi
        ;;
      *) fail "unknown need '$need': fuzz or tests" ;;
    esac
  done
  if [[ $python == python3 ]] && ! has python3; then
    packages+=(python3 python3-venv)
  elif is_debians_python && ! makes_environments; then
    packages+=(python3-venv)
  fi
  ((${#packages[@]} == 0)) || apt_install "${packages[@]}"
  check_python
  cargo_is_good || install_cargo
  check_cargo
}

# want PROGRAM PACKAGE...: these packages where there is no such program.
want() { has "$1" || packages+=("${@:2}"); }

apt_install() {
  local by_hand="apt-get install $*"
  has apt-get || fail "missing $*, and there is no apt-get: install them by hand (README, \"What is needed\")"
  as_root || fail "missing $*: run '$by_hand' as root"
  echo "bootstrap: installing $*"
  update_lists
  apt_get install -y --no-install-recommends "$@" >/dev/null ||
    fail "could not install $*: run '$by_hand' as root"
}

apt_get() {
  local sudo=()
  ((EUID == 0)) || sudo=(sudo)
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 "$@"
}

# Lists may be out of reach and still good enough, so only the installation decides.
update_lists() {
  [[ -n ${lists_updated:-} ]] || apt_get update || true
  lists_updated=yes
}

check_python() {
  has "$python" || fail "no $python: name a Python, make PYTHON=/path/to/python3"
  makes_environments || fail "$python has no venv with pip: name another, make PYTHON=/path/to/python3"
  "$python" -c "import sys; sys.exit(sys.version_info < (${needs_python/./, }))" ||
    fail "$python is older than $needs_python: name a newer one, make PYTHON=/path/to/python3"
}

# Debian has two: `cargo`, which stays as old as its release, and `cargo-web`, which follows
# what Firefox needs. Another cargo, such as rustup's, is its owner's to update.
install_cargo() {
  has apt-get && { ! has cargo || is_debians_cargo; } && as_root || return 0
  update_lists
  if is_new_enough "$(apt_candidate cargo)"; then
    apt_install cargo rustc rust-clippy rustfmt
  elif is_new_enough "$(apt_candidate cargo-web)"; then
    apt_install cargo-web rustc-web rust-web-clippy rustfmt-web
  fi
  hash -r
}

check_cargo() {
  has cargo || fail "no cargo: install Rust $needs_cargo or newer (rustup is the usual way)"
  is_new_enough "$(cargo_version)" ||
    fail "cargo is $(cargo_version), $needs_cargo or newer is needed: rustup update stable"
  local component
  for component in clippy fmt; do
    cargo "$component" --version >/dev/null 2>&1 ||
      fail "no cargo $component: rustup component add clippy rustfmt"
  done
}

cargo_is_good() {
  has cargo && is_new_enough "$(cargo_version)" &&
    cargo clippy --version >/dev/null 2>&1 && cargo fmt --version >/dev/null 2>&1
}

cargo_version() { cargo --version | cut -d ' ' -f 2; }

apt_candidate() { LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: //p'; }

is_new_enough() {
  [[ $1 =~ ^[0-9] ]] && [[ $(printf '%s\n' "$needs_cargo" "$1" | sort -V | head -n 1) == "$needs_cargo" ]]
}

is_debians_cargo() { [[ $(readlink -f "$(command -v cargo)") == /usr/* ]] && dpkg -S "$(command -v cargo)" >/dev/null 2>&1; }

as_root() { ((EUID == 0)) || may_sudo; }

# Without a terminal there is nobody to type a password.
may_sudo() { has sudo && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; }

is_debians_python() {
  has "$python" && [[ $(readlink -f "$(command -v "$python")") == /usr/bin/* ]]
}

makes_environments() { "$python" -c 'import ensurepip, venv' 2>/dev/null; }

has() { command -v "$1" >/dev/null; }

fail() {
  echo "bootstrap: $*" >&2
  exit 1
}

main "$@"
