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
CHECKS := check-types check-style check-modules check-generated check-tests

# Tests start hundreds of processes. Without files of compiled modules each of them compiles the
# product again: 1.7 s instead of 0.6 s of CPU time for a broker.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test coverage up check $(CHECKS) gen bench bench-quick soak clean

setup: $(VENV)/.installed $(OLD_CLIENT)/.installed

# Compiles the extensions and downloads the packages at the same time.
$(VENV)/.installed: pyproject.toml setup.py $(COMPILED)
	$(PYTHON) -m venv $(VENV)
	$(PIP) --no-deps --editable . & compiled=$$!; \
	$(PYTHON) scripts/requirements.py dev | $(PIP) --requirement /dev/stdin && wait $$compiled
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

test: setup
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --no-loadscope-reorder tests
	$(BIN)/python -m scripts.coverage_figure

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

# Two at a time: mypy alone takes as long as all the others.
check: setup
	+$(MAKE) --no-print-directory --jobs 2 --output-sync=target $(CHECKS)

check-types:
	$(BIN)/mypy

check-style:
	$(BIN)/ruff check src codegen tests benchmarks examples scripts
	$(BIN)/ruff format --check src codegen tests benchmarks examples scripts

check-modules:
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m scripts.check_sizes

check-generated:
	$(BIN)/python -m codegen --check
	$(BIN)/python -m scripts.configuration --check
	$(BIN)/python -m scripts.compatibility --check
	$(BIN)/python -m scripts.conformance --check
	$(BIN)/python -m scripts.metrics --check

# Imports all tests: a mistake is found in seconds, and the workers of `make test` start faster.
check-tests:
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
