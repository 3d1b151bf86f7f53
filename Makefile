# Each target makes the .venv that it needs. PYTHON picks the interpreter, ARGS goes to the command.
PYTHON ?= python3
ARGS ?=
BIN := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help demo test quick oldest lint docs reproduce verify quality bench bench-against bench-gpu fuzz kills soak coverage mutants audit clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

demo: .venv/all.stamp ## Install, select features from a dataset, classify, write demo-report.html
	$(BIN)/slfs demo demo-report.html

test: .venv/test.stamp ## Run all tests; ARGS="-k mdlp" selects some
	$(BIN)/python -m pytest -n auto $(ARGS)

quick: .venv/test.stamp ## Run the tests that are not marked slow, in under two minutes
	SLFS_EXAMPLES=5 $(BIN)/python -m pytest -m "not slow" -n auto $(ARGS)

# Old libraries may use what newer ones that they depend on have deprecated: no errors here.
oldest: .venv-oldest/stamp ## Run the quick tests with the oldest versions that pyproject.toml allows
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-oldest/kernels .venv-oldest/bin/python -m pytest -m "not slow" -n auto \
		-p no:cacheprovider -W default::DeprecationWarning -W default::PendingDeprecationWarning $(ARGS)

lint: .venv/lint.stamp ## Check format, style, types and the direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv/docs.stamp ## Build the documentation in docs/_build/html
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

reproduce: .venv/all.stamp ## Write docs/results.md from experiments/results/; ARGS="table3" selects a part
	$(BIN)/python -m experiments $(or $(ARGS),all)

verify: .venv/all.stamp ## Check that the code still selects what the stored rows contain (needs SLFS_DATA)
	$(BIN)/python -m experiments check

quality: .venv/quality.stamp ## Compare selection methods on 47 datasets (needs SLFS_DATA); ARGS="--minutes 30" stops in time
	$(BIN)/python -m experiments.quality $(ARGS)

bench: .venv/test.stamp .venv-orange/stamp .venv-peers/stamp ## Compare speed with other packages; ARGS="mdlp pack" selects cases
	$(BIN)/python -m benchmarks $(ARGS)

bench-gpu: ## Measure the GPU backend; needs an NVIDIA GPU and the extra gpu in the current environment
	PYTHONPATH=src python3 -m benchmarks.gpu $(ARGS)

bench-against: .venv/test.stamp ## Compare speed with another checkout; ARGS="/path/to/checkout [CASE ...]"
	$(BIN)/python -m benchmarks.against $(ARGS)

fuzz: .venv/test.stamp ## Fuzz every entry point with tables and files; ARGS="--minutes 60 --seed 1"
	$(BIN)/python -m tests.long.fuzz $(ARGS)

kills: .venv/test.stamp ## Kill jobs at random moments and check what is left; ARGS="--kills 200"
	$(BIN)/python -m tests.long.kills $(ARGS)

soak: .venv/test.stamp ## Fit for an hour and watch memory; ARGS="--minutes 5"
	$(BIN)/python -m tests.long.soak $(ARGS)

# Kernels are seen by coverage with the JIT off only, where the other tests would take hours. Tests that kill
# processes may leave a damaged file of data behind: combine says so and leaves it out.
KERNEL_TESTS := $(addprefix tests/,test_counting.py test_backends.py test_mdlp.py test_chi2.py test_stream.py test_slfs.py \
	test_table.py::test_columns_become_rows_whatever_type_and_memory_order test_information.py::test_laws \
	test_information.py::test_sums_over_few_levels_are_those_of_their_tables \
	test_information.py::test_pooled_counts_are_the_same_bits_however_they_are_counted test_contingency.py \
	test_significance.py::test_permutations_approach_the_count_of_all_of_them test_vectors.py \
	test_residual.py::test_equal_to_the_algorithm_in_floats)
coverage: .venv/test.stamp ## Branch coverage, kernels as plain Python; at least 95%
	$(BIN)/coverage erase
	SLFS_EXAMPLES=20 $(BIN)/coverage run -m pytest -q -n auto -p no:cacheprovider
	NUMBA_DISABLE_JIT=1 SLFS_EXAMPLES=5 $(BIN)/coverage run -m pytest -q -n auto -p no:cacheprovider $(KERNEL_TESTS)
	-$(BIN)/coverage combine -q
	$(BIN)/coverage report --skip-covered --fail-under=95

mutants: .venv-mutants/stamp ## Mutation testing; ARGS="slfs.network*"
	-.venv-mutants/bin/mutmut run $(ARGS)
	.venv-mutants/bin/mutmut results | sed '/not checked/d'

audit: .venv/test.stamp ## Check installed packages for known vulnerabilities
	-$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/python -m tests.long.audit

clean: ## Remove the environments and caches
	rm -rf .venv .venv-oldest .venv-orange .venv-peers .venv-mutants mutants docs/_build docs/generated .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/%.stamp: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	@touch $@

.venv-oldest/stamp: pyproject.toml tests/long/oldest.py
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python tests/long/oldest.py > $(@D)/requirements.txt
	$(@D)/bin/python -m pip install --quiet --requirement $(@D)/requirements.txt
	$(@D)/bin/python -m pip install --quiet --no-deps --editable .
	@touch $@

# What we are measured beside. Orange3 pins older libraries: an environment of its own. So does mutmut (3.8), which
# needs a pytest before 9.2.
.venv-orange/stamp: PACKAGES = Orange3
.venv-peers/stamp: PACKAGES = mrmrs polars pyarrow pyagrum pandas scikit-learn Boruta
.venv-mutants/stamp: PACKAGES = mutmut 'pytest<9.2' --editable '.[test]'
.venv-%/stamp:
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet $(PACKAGES)
	@touch $@
