#!/usr/bin/env bash
# Pins the Python packages that pyproject.toml asks for, with the hashes of all
# their files, for every Python from 3.11 and any Linux. Usage: tools/lock.sh [PYTHON]
set -euo pipefail
cd "$(dirname "$0")/.."

venv=build/lock
"${1:-python3}" -m venv "$venv"
"$venv/bin/pip" install --quiet uv==0.13.8

compile() {
  "$venv/bin/uv" pip compile --quiet --upgrade --universal --python-version 3.11 \
    --generate-hashes --custom-compile-command "make lock" "$@"
}

compile pyproject.toml --output-file requirements.txt
compile --group dev --constraint requirements.txt --output-file requirements-dev.txt
compile --group docs --constraint requirements.txt --constraint requirements-dev.txt \
  --output-file requirements-docs.txt
