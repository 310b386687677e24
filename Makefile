VENV ?= .venv
PYTHON ?= python3
PY := $(VENV)/bin/python
OLDEST := $(shell sed -n 's/^requires-python = ">=\(.*\)"/\1/p' pyproject.toml)
JOBS ?= auto
SEEDS ?= 10
SIZE ?= 1
MINUTES ?= 10

.PHONY: demo test docs soak soak-tests lint bench bench-page papers dist

demo: $(VENV)/installed  ## install what README's examples need, and explain their table
	$(PY) -m boxwood demo

test: export PYTHONDONTWRITEBYTECODE = # workers and the processes that tests start share bytecode
test: $(VENV)/installed-test  ## run the tests, in about ten minutes on two cores; TESTS=--full tries four times as much
	$(PY) -m pytest -n $(JOBS) --dist worksteal $(TESTS)

docs: export GALLERY ?= 1
docs: $(VENV)/installed-docs  ## build the site into docs/_build/html; GALLERY=0 does not run the gallery
	$(PY) -m sphinx --fail-on-warning --keep-going --nitpicky --quiet docs docs/_build/html
	@echo "the site is in docs/_build/html: $(PY) -m http.server -d docs/_build/html"

soak: $(VENV)/installed-test $(VENV)/installed-browser  ## try generated cases for MINUTES, and the report in Chromium
	$(PY) -m tests.soak --minutes $(MINUTES)
	$(PY) -m pytest --browser -m browser tests/render

soak-tests: $(VENV)/installed-test  ## run slow tests, too, and all on SEEDS times as many seeds and SIZE times the rows
	$(PY) -m pytest -n $(JOBS) --dist worksteal --full --slow --seeds $(SEEDS) --size $(SIZE)

lint: $(VENV)/installed-lint  ## style and types
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

bench: $(VENV)/installed-bench  ## time and quality, as ratios within one run
	$(PY) -m benchmarks

bench-page: $(VENV)/installed-bench  ## docs/benchmarks.md: quality, speed and memory beside peers
	$(PY) -m benchmarks.bench_page

papers: $(VENV)/installed-bench  ## every table and figure of the papers beside ours, into papers_report
	$(PY) -m benchmarks.papers

dist: $(VENV)/installed-release  ## build the wheel and the sdist twice, compare, and try them in clean environments
	$(PY) -m tests.release $(TRY)

$(PY):
	@$(PYTHON) -c "import sys; v = '.'.join(map(str, sys.version_info[:3])); \
	  sys.version_info < tuple(map(int, '$(OLDEST)'.split('.'))) and sys.exit('boxwood needs Python $(OLDEST) or later, \
	but $(PYTHON) is ' + v + '; name another one: make PYTHON=python$(OLDEST) $(MAKECMDGOALS)')"
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade pip

$(VENV)/installed: $(PY) pyproject.toml
	$(PY) -m pip install --quiet -e ".[pandas,plot,page,arrow]"
	touch $@

$(VENV)/installed-%: $(VENV)/installed
	$(PY) -m pip install --quiet --group $*
	touch $@
