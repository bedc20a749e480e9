# The set-up contract: every command below works on a machine with Python 3.11+, a C compiler,
# Java 17+ and make, and takes its packages from PyPI alone.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Modules are compiled to bytecode when they are imported: most of the installed ones never are.
PIP = $(BIN)/pip install --quiet --disable-pip-version-check --no-compile
OLD_CLIENT := .venv-librdkafka-2.0
COMPILED := $(shell find src -name '*.pyx' -o -name '_*_hot.py')
# More than the two cores of CI: the tests of clusters, groups and Spark mostly wait.
WORKERS ?= 4
UNIT := tests/unit tests/contract
CHECKS := check-types check-style check-modules check-generated check-tests

# Tests start hundreds of processes. Without files of compiled modules each of them compiles the
# product again: 1.7 s instead of 0.6 s of CPU time for a broker.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup installed demo test test-unit test-others coverage up check $(CHECKS) gen bench bench-quick soak clean

# Two at a time: the extensions are compiled while packages are downloaded.
setup:
	+@$(MAKE) --no-print-directory --jobs 2 installed

installed: $(VENV)/.packages $(VENV)/.compiled $(OLD_CLIENT)/.installed
	@:

$(BIN)/pip:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.packages: pyproject.toml | $(BIN)/pip
	$(PYTHON) scripts/requirements.py dev | $(PIP) --requirement /dev/stdin
	touch $@

$(VENV)/.compiled: pyproject.toml setup.py $(COMPILED) | $(BIN)/pip
	$(PIP) --no-deps --editable .
	touch $@

# An old librdkafka, for the tests: clients that are years behind must keep working.
$(OLD_CLIENT)/.installed:
	$(PYTHON) -m venv $(OLD_CLIENT)
	$(OLD_CLIENT)/bin/pip install --quiet --disable-pip-version-check confluent-kafka==2.0.2
	touch $@

demo: setup
	$(BIN)/python examples/demo.py

up: setup
	$(BIN)/barnabas up

# Two runs at the same time. The unit tests are most of the tests, and every worker of a run collects
# all tests of the run: one process that runs them alone saves a minute of CPU time.
test: setup
	+@$(MAKE) --no-print-directory --jobs 2 test-unit test-others
	$(BIN)/python -m scripts.coverage_figure

test-unit:
	@mkdir -p build
	@$(BIN)/python -m pytest -q $(UNIT) >build/test-unit.log 2>&1; code=$$?; \
	cat build/test-unit.log; exit $$code

test-others:
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --no-loadscope-reorder \
		$(UNIT:%=--ignore=%) tests

# Branch coverage of src by the fast tests; generated and compiled modules are left out.
coverage: setup
	$(BIN)/python -m pytest -q -n $(WORKERS) --cov --cov-report=term tests/unit tests/contract tests/property
	$(BIN)/python -m scripts.coverage_figure --store

gen: setup
	$(BIN)/python -m codegen
	$(BIN)/python -m scripts.configuration
	$(BIN)/python -m scripts.compatibility
	$(BIN)/python -m scripts.conformance
	$(BIN)/python -m scripts.metrics

# Two at a time: mypy alone takes as long as all the others. In a fresh clone the checks that need
# packages only run while the extensions are compiled.
check:
	+@$(MAKE) --no-print-directory --jobs 2 --output-sync=target $(CHECKS) installed

check-types: $(VENV)/.packages
	$(BIN)/mypy

check-style: $(VENV)/.packages
	$(BIN)/ruff check src codegen tests benchmarks examples scripts
	$(BIN)/ruff format --check src codegen tests benchmarks examples scripts

check-modules: $(VENV)/.packages $(VENV)/.compiled
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m scripts.check_sizes

check-generated: $(VENV)/.packages $(VENV)/.compiled
	$(BIN)/python -m codegen --check
	$(BIN)/python -m scripts.configuration --check
	$(BIN)/python -m scripts.compatibility --check
	$(BIN)/python -m scripts.conformance --check
	$(BIN)/python -m scripts.metrics --check

# Imports all tests: a mistake is found in seconds, and the workers of `make test` start faster.
check-tests: $(VENV)/.packages $(VENV)/.compiled
	@found=$$($(BIN)/python -m pytest --collect-only -qq tests 2>&1) || { echo "$$found"; exit 1; }

# Writes JSON and SVG plots to benchmarks/results. BARNABAS_BENCH_PEER=JARS or HOST:PORT adds Kafka.
bench: setup
	$(BIN)/python -m benchmarks

bench-quick: setup
	$(BIN)/python -m benchmarks --quick

soak: setup
	BARNABAS_SOAK=1 $(BIN)/python -m pytest tests -m "faults or integration" --timeout 3600
	BARNABAS_SOAK=1 $(BIN)/python -m pytest tests/property tests/compat/test_wire_oracles.py --timeout 3600

clean:
	rm -rf $(VENV) $(OLD_CLIENT) build .mypy_cache .ruff_cache .pytest_cache
