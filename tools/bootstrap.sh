#!/usr/bin/env bash
# Makes sure that the tools which the Makefile calls are there. Looks first;
# calls apt-get only for what is missing. Usage: tools/bootstrap.sh [PYTHON]
set -euo pipefail

python=${1:-python3}
needs_python=3.11
needs_cargo=1.88

main() {
  install_missing
  check_python
  check_cargo
}

install_missing() {
  local missing=()
  has cc || missing+=(gcc libc6-dev)
  has c++ || missing+=(g++)
  has git || missing+=(git)
  has node || missing+=(nodejs)
  has npm || missing+=(npm)
  # Tests that lack one of these are skipped; CI skips nothing.
  if [[ -n ${CI:-} ]]; then
    has curl || missing+=(curl)
    has chromium || missing+=(chromium)
  fi
  if [[ $python == python3 ]] && ! has python3; then
    missing+=(python3 python3-venv)
  elif is_debians_python && ! makes_environments; then
    missing+=(python3-venv)
  fi
  ((${#missing[@]} == 0)) || apt_install "${missing[@]}"
}

apt_install() {
  local by_hand="apt-get install $*" as_root=()
  has apt-get || fail "missing $*, and there is no apt-get: install them by hand"
  if ((EUID != 0)); then
    may_sudo || fail "missing $*: run '$by_hand' as root"
    as_root=(sudo)
  fi
  echo "bootstrap: installing $*"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120)
  # Lists may be out of reach and still good enough, so only the installation decides.
  "${apt[@]}" update || true
  "${apt[@]}" install -y --no-install-recommends "$@" >/dev/null ||
    fail "could not install $*: run '$by_hand' as root"
}

check_python() {
  has "$python" || fail "no $python: name a Python, make PYTHON=/path/to/python3"
  makes_environments || fail "$python has no venv with pip: name another, make PYTHON=/path/to/python3"
  "$python" -c "import sys; sys.exit(sys.version_info < (${needs_python/./, }))" ||
    fail "$python is older than $needs_python: name a newer one, make PYTHON=/path/to/python3"
}

check_cargo() {
  has cargo || fail "no cargo: install Rust $needs_cargo or newer (rustup is the usual way)"
  local found component
  found=$(cargo --version | cut -d ' ' -f 2)
  [[ $(printf '%s\n' "$needs_cargo" "$found" | sort -V | head -n 1) == "$needs_cargo" ]] ||
    fail "cargo is $found, $needs_cargo or newer is needed: rustup update stable"
  for component in clippy fmt; do
    cargo "$component" --version >/dev/null 2>&1 ||
      fail "no cargo $component: rustup component add clippy rustfmt"
  done
}

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

main
