# One target for each thing that a contributor does; `make` alone prints them.

VENV := .venv
PY := $(VENV)/bin/python
RUNS := $(VENV)/.installed
STAMP := $(VENV)/.installed-for-developers
DOCS := $(VENV)/.installed-for-docs
WORKERS ?= 2
MINUTES ?= 60
SEED ?= 1

.DEFAULT_GOAL := help
.PHONY: help demo test test-all lint format docs fuzz fuzz-programs fuzz-ptx nvcc gpu-prepare gpu-test gpu-bench paper-tables bench selection sizes assembly bench-trees quotients bank agreement clean

help:  ## print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

# Redone when the requirements change: what the tool needs to run, and then what its developers need.
$(RUNS): pyproject.toml
	@echo 'installing comprehensive into $(VENV)'
	@python3 -m venv $(VENV)
	@$(PY) -m pip install -q --disable-pip-version-check -e .
	@touch $@

$(STAMP): $(RUNS)
	@echo 'installing what developers need into $(VENV)'
	@$(PY) -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@

$(DOCS): $(RUNS)
	@echo 'installing what the documentation needs into $(VENV)'
	@$(PY) -m pip install -q --disable-pip-version-check -e '.[docs]'
	@touch $@

demo: $(RUNS)  ## annotated matrix product to header, kernels, tree and manifest in out/demo
	$(VENV)/bin/comprehensive demo specs/matmul.mf -o out/demo --registers estimate

test: $(STAMP) nvcc  ## all tests that need no GPU, except the slow ones
	$(PY) -m pytest -n $(WORKERS) -m 'not slow and not gpu'

test-all: $(STAMP) nvcc  ## all tests that need no GPU, on new random examples, compiling everything anew
	HYPOTHESIS_PROFILE=exploring $(PY) -m pytest -n $(WORKERS) -m 'not gpu' --cold

lint: $(STAMP)  ## style, format, prose of docstrings and tables of files, types
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m tests.prose
	$(PY) -m pyright

docs: $(DOCS)  ## the documentation as a site in build/docs; warnings and wrong links are errors
	$(PY) -m docs.generator build/docs

# Both at once; ends with an error at a finding. What was found is in build/fuzz.
fuzz: $(STAMP) nvcc  ## random programs and random PTX for MINUTES (60), from SEED (1)
	$(MAKE) --jobs 2 --keep-going --output-sync=target fuzz-programs fuzz-ptx

fuzz-programs fuzz-ptx:
	$(PY) -m tests.fuzz.$(@:fuzz-%=%) --minutes $(MINUTES) --seed $(SEED)

format: $(STAMP)  ## rewrite the sources in the one format
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# Tests that compile CUDA take nvcc from the PyPI wheels where no toolkit is installed. Where there is
# no wheel either, they are skipped and pytest says so.
nvcc: $(STAMP)
	@$(PY) -m comprehensive.toolchain.find nvcc >/dev/null 2>&1 \
	  || $(PY) -m pip install -q -e '.[dev,cuda]' \
	  || echo 'nvcc: not found and not installable; tests that need it will be skipped' >&2

gpu-prepare: $(STAMP)  ## generate what gpu-test and gpu-bench compile, into build/gpu
	$(PY) tests/gpu/prepare.py
	$(PY) -m benchmarks.gpu.everyday.prepare
	$(PY) -m benchmarks.gpu.paper.prepare

# Meant for a machine with nvcc, a GPU and a plain python3: no environment, no third-party package.
gpu-test:  ## compile build/gpu on this machine and compare with the serial C
	python3 tests/gpu/run.py

# The same machine, with torch and Triton beside that python3.
gpu-bench:  ## time build/gpu on this machine's GPU beside cuBLAS, torch, Triton and plain kernels
	python3 -m benchmarks.gpu
	python3 -m benchmarks.gpu.everyday

# The same machine, with plain python3.
paper-tables:  ## time the paper's tables 1 to 3 on this machine's GPU beside the published numbers
	python3 -m benchmarks.gpu.paper

selection: $(STAMP)  ## time selection in C: the choice of a tile, and of parameters
	$(PY) -m benchmarks.selection

bench: $(STAMP)  ## time the generator itself
	$(PY) benchmarks/host.py

sizes: $(STAMP) nvcc  ## what the generated code takes to compile, and how large it is
	$(PY) -m benchmarks.sizes

assembly: $(STAMP) nvcc  ## assembling in process and by ptxas, and what the drop-in adds to a build
	$(PY) -m benchmarks.assembly

bench-trees: $(STAMP)  ## time the solver on synthetic decision trees, beside z3 and cvc5
	$(PY) benchmarks/trees.py

quotients: $(STAMP)  ## floors and minima in the solver, beside case splits and z3
	$(PY) -m benchmarks.quotients

bank: $(STAMP)  ## how many problems of the literature are solved, beside z3
	$(PY) -m benchmarks.bank

agreement: $(STAMP)  ## verdicts beside counting, z3 and cvc5; OTHER=python with another z3
	$(PY) -m benchmarks.agreement $(if $(OTHER),--other $(OTHER))

clean:  ## remove outputs and caches, keep the environment
	rm -rf build dist out .hypothesis .pytest_cache .ruff_cache .tool_cache *.egg-info
	find comprehensive tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
