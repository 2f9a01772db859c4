#!/usr/bin/env bash
# Builds the wheel from what is committed: a copy of the tree in which the
# subjects and studies lie inside the package, where an installed wheel looks.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD
stage=build/dist
rm -rf "$stage"
mkdir -p "$stage" dist
git archive HEAD | tar -x -C "$stage"
for data in subjects studies; do
  if [[ -d $stage/$data ]]; then
    mv "$stage/$data" "$stage/python/wiretrial/_$data"
  fi
done

# A static libc, so that the engine runs on any Linux, old or bare; and no folder
# of this machine in its messages.
flags="-C target-feature=+crt-static"
flags+=" --remap-path-prefix=$PWD/$stage=wiretrial"
flags+=" --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src=crates"
cd "$stage"
RUSTFLAGS=$flags CARGO_TARGET_DIR="$root/target" \
  "$root/.venv/bin/maturin" build --quiet --profile dist --locked \
  --target x86_64-unknown-linux-gnu --out "$root/dist"
cd "$root"
rm -rf "$stage"
ls -1 dist/*.whl
