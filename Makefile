# Each target makes the .venv that it needs. PYTHON picks the interpreter, ARGS goes to the command.
PYTHON ?= python3
ARGS ?=
BIN := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help demo test lint docs reproduce bench clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

demo: .venv/all.stamp ## Install, select features of a dataset, classify, write demo-report.html
	$(BIN)/slfs demo demo-report.html

test: .venv/test.stamp ## Run all tests; ARGS="-k mdlp" picks some
	$(BIN)/python -m pytest -n auto $(ARGS)

lint: .venv/lint.stamp ## Check format, style, types and the direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv/docs.stamp ## Build the documentation in docs/_build/html
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

reproduce: .venv/all.stamp ## Redo the paper: docs/results.md from experiments/; ARGS="table3" picks a part
	$(BIN)/slfs reproduce $(or $(ARGS),all)

bench: .venv/test.stamp .venv-orange/stamp .venv-peers/stamp ## Measure speed and memory beside peers; ARGS="mdlp pack" picks cases
	$(BIN)/slfs bench $(ARGS)

clean: ## Remove the environments and caches
	rm -rf .venv .venv-orange .venv-peers docs/_build docs/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/%.stamp: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	@touch $@

# What we are measured beside. Orange3 pins older libraries: an environment of its own.
.venv-orange/stamp: PACKAGES = Orange3
.venv-peers/stamp: PACKAGES = mrmrs polars pyarrow pyagrum pandas scikit-learn Boruta
.venv-%/stamp:
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet $(PACKAGES)
	@touch $@
