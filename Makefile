# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
#
# make demo    simulate a small study and write the report demo/report.html; says how to start the live demo
# make test    lint, types and tests
# make test-room R=release  the quick tests of one package (or R=lab/attacks), in less than a minute
# make coverage  how much of noise, privacy and release their tests run
# make bench   speed, as ratios to named peers; writes benchmarks/results
# make usefulness  how good private heatmaps are, into the documentation
# make load    the gateway at 100 x 120 Hz against a bare proxy, alone and with three busy processes beside it (25 minutes)
# make audits  every audit with a million trials, into the documentation; hours, and goes on where it was stopped
# make chaos   200 faults against a running gateway, with a tap on every app
# make fuzz    a million made-up inputs for every parser of the gateway
# make taps    six minutes with a tap on every app, for every protocol
# make stranger  the first page of the documentation in a fresh clone and a fresh environment, timed
# make pictures  draw the pictures of README and gallery
# make notebooks  run the tutorials and write down what they show
# make docs    build the documentation into site/
# make docs-version VERSION=0.1  the same as a version on the branch gh-pages, beside earlier ones
# make release-check  is this commit ready to be released? builds dist/ and tries it in empty environments (HEAVY=1: all extras)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup demo test test-room lint types unit coverage bench usefulness load audits chaos fuzz taps docs docs-version clean release-check stranger pictures notebooks
.DEFAULT_GOAL := setup

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gazeveil needs Python 3.11 or newer; name one with make PYTHON=…")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[plots,accounting,picture,postgres,live,scene,onnx,dev]'
	@touch $@

demo: setup
	$(BIN)/gazeveil demo --out demo

# Side by side: lint and types while large packages are fetched, and beside tests that wait for processes and sockets.
test: setup
	@$(MAKE) --no-print-directory --jobs 4 lint types unit

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

# Spark is a large download (450 MB): only the tests ask for it, and only where there is Java to run it.
$(VENV)/.spark: $(VENV)/.installed
	@if command -v java >/dev/null; then \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[spark]' \
		|| echo 'Spark could not be installed: its tests are skipped'; \
	fi
	@touch $@

# Torch is a larger one still (900 MB): only the tests of the attackers ask for it. One after the other: pip does not share.
$(VENV)/.attacks: $(VENV)/.installed $(VENV)/.spark
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[attacks]' \
		|| echo 'torch could not be installed: its tests are skipped'
	@touch $@

# The control page is tested in a real browser: Debian's chromium, where it is there or may be installed.
$(VENV)/.browser: $(VENV)/.installed
	@if ! command -v chromium >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends chromium; } >/dev/null 2>&1 \
		|| echo 'chromium could not be installed: the tests of the control page are skipped'; \
	fi
	@touch $@

# While those are fetched: compile what all tests need, and collect them once, so that their processes find it done.
$(VENV)/.compiled: $(VENV)/.installed
	@PYTHONDONTWRITEBYTECODE= PYTHONPATH=src $(BIN)/python -m tests.compile_kernels
	@PYTHONDONTWRITEBYTECODE= PYTHONPATH=src $(BIN)/pytest --collect-only -q >/dev/null || true
	@touch $@

# One thread for linear algebra, or the workers fight over the cores; three workers for two cores, as some always wait.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(max(2, 3 * os.cpu_count() // 2))')
# Tests start many processes: without byte code on disk each of them would compile the whole package.
unit: setup $(VENV)/.spark $(VENV)/.attacks $(VENV)/.browser $(VENV)/.compiled
	PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# One room at a time while one works in it: without what is slow. Golden folders show what a room's products release.
test-room: setup $(VENV)/.compiled
	@test -d tests/$(R) || { echo 'say which: make test-room R=release'; exit 2; }
	PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2 --dist loadfile -m 'not slow' tests/$(R)

$(VENV)/.cover: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[cover]'
	@touch $@

coverage: setup $(VENV)/.cover
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n $(WORKERS) --dist loadfile --cov --cov-report term tests/noise tests/privacy tests/release

$(VENV)/.bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	@touch $@

bench: setup $(VENV)/.bench $(VENV)/.spark $(VENV)/.attacks
	$(BIN)/python -m benchmarks

usefulness: setup
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.usefulness

load: setup
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.gateway_busy

# Run some again with AUDITS='clock kaleido'.
audits: setup
	OPENBLAS_NUM_THREADS=1 nice -n 10 $(BIN)/python -m benchmarks.audits $(AUDITS)

chaos: setup
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.chaos

fuzz: setup
	$(BIN)/python -m tests.gateway.fuzz_protocols

taps: setup
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.taps

stranger: setup
	$(BIN)/python -m benchmarks.strangers_path

pictures: setup
	$(BIN)/python -m benchmarks.pictures

notebooks: setup
	$(BIN)/python -m benchmarks.notebooks

docs: setup
	$(BIN)/mkdocs build --strict

docs-version: setup
	PATH="$(CURDIR)/$(BIN):$$PATH" mike deploy --update-aliases $(VERSION) latest

# Tools that build and check a release have an environment of their own. Of cffconvert only its schema of citations is used.
.venv-release/.installed: tools/release/requirements.txt
	$(PYTHON) -m venv .venv-release
	.venv-release/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	.venv-release/bin/python -m pip install --quiet --disable-pip-version-check --no-deps cffconvert==2.0.0
	@touch $@

release-check: setup .venv-release/.installed
	$(BIN)/python -m tools.release --bin .venv-release/bin $(if $(HEAVY),--heavy)

clean:
	rm -rf $(VENV) .venv-release site demo dist .mypy_cache .ruff_cache .pytest_cache
