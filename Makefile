# The commands are in noxfile.py, which also runs without make. Here nox is installed into .venv, made by the
# interpreter PYTHON; ARGS goes to the command.
PYTHON ?= python3
ARGS ?=
COMMANDS := demo test quick oldest nightly lint docs wheel reproduce verify quality bench bench-against bench-history fuzz kills soak \
	coverage mutants audit standards
.DEFAULT_GOAL := help
.PHONY: help bench-gpu clean $(COMMANDS)

help: ## Show this list
	@awk '/^def [a-z_]+\(session: nox.Session\) -> None:/ { name = $$2; sub(/\(.*/, "", name); sub(/_/, "-", name); getline; \
		gsub(/^ *"""|"""$$/, ""); printf "  make %-14s %s\n", name, $$0 }' noxfile.py
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

$(COMMANDS): .venv/bin/nox
	@.venv/bin/nox --session $@ -- $(ARGS)

.venv/bin/nox:
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --upgrade pip nox

bench-gpu: ## Measure the GPU backend; needs an NVIDIA GPU and the extra gpu in the current environment
	PYTHONPATH=src python3 -m benchmarks.gpu $(ARGS)

clean: ## Remove the environments and caches
	rm -rf .venv .venv-* .nox .asv mutants dist docs/_build docs/generated .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis
