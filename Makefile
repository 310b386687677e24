VENV ?= .venv
PYTHON ?= python3
PY := $(VENV)/bin/python
JOBS ?= auto

.PHONY: demo test lint bench

demo: $(VENV)/installed  ## explain a real table
	$(PY) -m boxwood demo

test: $(VENV)/installed-test  ## run all tests
	$(PY) -m pytest -n $(JOBS)

lint: $(VENV)/installed-lint  ## style and types
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

bench: $(VENV)/installed-bench  ## time and quality, as ratios within one run
	$(PY) -m benchmarks

$(PY):
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade pip

$(VENV)/installed: $(PY) pyproject.toml
	$(PY) -m pip install --quiet -e .
	touch $@

$(VENV)/installed-%: $(VENV)/installed
	$(PY) -m pip install --quiet --group $*
	touch $@
