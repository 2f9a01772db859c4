#!/usr/bin/env bash
# Runs every fuzz target for some seconds, one per core at a time, on a stable compiler: libFuzzer wants
# only the coverage that LLVM's sancov pass adds, and stable passes it on.
# Usage: tools/fuzz.sh SECONDS [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:?usage: tools/fuzz.sh SECONDS [TARGET...]}
shift
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "fuzz: SECONDS is a whole number, 1 or more" >&2; exit 2; }

targets=("$@")
if ((${#targets[@]} == 0)); then
  for source in fuzz/fuzz_targets/*.rs; do
    targets+=("$(basename "$source" .rs)")
  done
fi

# With --target the flags reach the crates but not build scripts and macros,
# which would not link with them.
host=$(rustc -vV | sed -n 's/^host: //p')
flags="-Cpasses=sancov-module"
flags+=" -Cllvm-args=-sanitizer-coverage-level=4"
flags+=" -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
flags+=" -Cllvm-args=-sanitizer-coverage-pc-table"
flags+=" -Cllvm-args=-sanitizer-coverage-trace-compares"
flags+=" -Ccodegen-units=1 --cfg fuzzing"
RUSTFLAGS=$flags cargo build --quiet --locked --release --manifest-path fuzz/Cargo.toml --target "$host"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# One target for its seconds; what it says goes to standard error where it fails.
fuzz() {
  local target=$1 corpus=$scratch/$1 log=$scratch/$1.log crashes=fuzz/artifacts/$1
  mkdir -p "$corpus" "$crashes"
  if [[ -d fuzz/corpus/$target ]]; then
    cp -r "fuzz/corpus/$target/." "$corpus/"
  fi
  if ! "fuzz/target/$host/release/$target" "$corpus" \
    -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="$crashes/" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "fuzz: $target failed; the input is kept in $crashes/ (run it again: fuzz/target/$host/release/$target FILE)" >&2
    return 1
  fi
  echo "fuzz: $target: $(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log") inputs in $seconds s, no crash"
}
export -f fuzz
export scratch seconds host

# A core each; where one fails, those that run end, and no other begins.
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I {} bash -c 'fuzz {} || exit 255'
