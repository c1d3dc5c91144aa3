# Two commands matter: `make demo` and `make test`. Each installs what it needs into .venv first.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test checks lint types layers docs unit bench clean

demo: $(VENV)/demo.stamp
	$(BIN)/privet demo

# What takes one processor runs side by side, each with its output in one piece; the tests take all processors.
TOGETHER := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
test: $(VENV)/dev.stamp
	$(MAKE) --no-print-directory --jobs 4 $(TOGETHER) checks
	$(MAKE) --no-print-directory unit

checks: lint types layers docs

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev.stamp
	$(BIN)/mypy

layers: $(VENV)/dev.stamp
	$(BIN)/lint-imports

docs: $(VENV)/dev.stamp
	$(BIN)/python -m sphinx -W --keep-going --quiet --write-all -b html docs docs/_build/html

# One more than there are processors: many tests wait for a server, a browser or a cluster.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
unit: $(VENV)/dev.stamp  # with bytecode, even where the environment is against it: hundreds of processes import privet
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 5 --dist worksteal --durations 20

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
