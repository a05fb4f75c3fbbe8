# Everything a person or CI runs. `make` alone explains.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: env demo up test check soak bench lock clean help

BIN := .venv/bin
STAMP := .venv/.installed
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2])' >/dev/null 2>&1 \
	&& { echo $$p; break; }; done)

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16

env: $(STAMP) ## .venv with exactly what requirements.lock says

# pip checks every hash; --no-deps because the lock is complete, so nothing is resolved.
$(STAMP): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "harkara needs Python 3.11 or newer with the venv module:" \
		"install it, or name it: make env PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Installing requirements.lock into .venv: about 390 MB to download, a minute or two."
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --disable-pip-version-check --quiet --no-deps --require-hashes -r requirements.lock
	@$(BIN)/pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation -e .
	@$(BIN)/pip check --disable-pip-version-check
	@touch $@

demo: env ## a scripted day through real Kafka, then the funnel and the audit
	$(BIN)/harkara demo

up: env ## the embedded stack and every role; stays up until Ctrl-C
	$(BIN)/harkara up

test: env ## every test but the soak tests
	$(BIN)/python -m pytest -m "not soak"

check: env ## style, types, layers, packaging, catalog
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/test_packaging.py tests/test_tree.py
	$(BIN)/harkara catalog check

soak: env ## the long forms: chaos many times over
	$(BIN)/python -m pytest -m soak

bench: env ## the figures of benchmarks/, printed as tables
	$(BIN)/python -m benchmarks.smoke

lock: env ## write requirements.lock anew from pyproject.toml
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --quiet --upgrade \
		--generate-hashes --no-emit-index-url --no-annotate --custom-compile-command "make lock" \
		--output-file requirements.lock

clean: ## drop caches and demo data; keeps .venv
	rm -rf .harkara .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist
	find streams agents tables connectors harkara tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
