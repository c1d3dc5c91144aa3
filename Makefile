# `make demo`, `make test` (what needs nothing but Python), `make test-all` (what CI runs: journeys with browsers, databases
# and clusters too). Each installs what it needs into .venv first.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-all checks lint types layers docs bench clean

demo: $(VENV)/demo.stamp
	$(BIN)/privet demo

# What takes one processor runs side by side, each with its output in one piece; the tests take all processors.
TOGETHER := --jobs 4 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
# One more than there are processors: many tests wait for a server, a browser or a cluster. With bytecode, even where the
# environment is against it: hundreds of processes import privet.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 5 --dist worksteal --durations 20

test: $(VENV)/dev.stamp
	$(MAKE) --no-print-directory $(TOGETHER) checks
	$(PYTEST) -m 'not journey' --ignore tests/journeys

test-all: $(VENV)/dev.stamp
	$(MAKE) --no-print-directory $(TOGETHER) checks docs
	$(PYTEST)

checks: lint types layers

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev.stamp
	$(BIN)/mypy

layers: $(VENV)/dev.stamp
	$(BIN)/lint-imports

docs: $(VENV)/dev.stamp
	$(BIN)/python -m sphinx -W --keep-going --quiet --write-all -b html docs docs/_build/html

bench: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build docs/_build privet.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) -e '.[all]'
	touch $@

$(VENV)/dev.stamp: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) -e '.[dev]'
	touch $@ $(VENV)/demo.stamp
