#!/usr/bin/env bash
# Makes sure that the tools which the Makefile calls are there. Looks first;
# calls apt-get only for what is missing. Usage: tools/bootstrap.sh [PYTHON]
set -euo pipefail

python=${1:-python3}
needs_python=3.11
needs_cargo=1.88

fail() {
  echo "bootstrap: $*" >&2
  exit 1
}

missing=()
has() { command -v "$1" >/dev/null; }

has cc || missing+=(gcc libc6-dev)
has c++ || missing+=(g++)
has git || missing+=(git)
has node || missing+=(nodejs)
has npm || missing+=(npm)

if ! has "$python"; then
  missing+=(python3 python3-venv)
elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  missing+=(python3-venv)
fi

if ((${#missing[@]})); then
  has apt-get || fail "missing ${missing[*]}, and there is no apt-get: install them by hand"
  as_root=()
  if ((EUID != 0)); then
    has sudo || fail "missing ${missing[*]}: run 'apt-get install ${missing[*]}' as root"
    as_root=(sudo)
  fi
  echo "bootstrap: installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
fi

"$python" -c "import ensurepip, sys; sys.exit(sys.version_info < (${needs_python/./, }))" 2>/dev/null ||
  fail "$python is not a Python $needs_python or newer with ensurepip: name another, make PYTHON=/path/to/python3"

has cargo || fail "no cargo: install Rust $needs_cargo or newer (rustup is the usual way)"
cargo_version=$(cargo --version | cut -d ' ' -f 2)
[[ $(printf '%s\n' "$needs_cargo" "$cargo_version" | sort -V | head -n 1) == "$needs_cargo" ]] ||
  fail "cargo is $cargo_version, $needs_cargo or newer is needed: rustup update stable"
for component in clippy fmt; do
  cargo "$component" --version >/dev/null 2>&1 ||
    fail "no cargo $component: rustup component add clippy rustfmt"
done
