# Everything works on a machine with Python >= 3.11 (with venv) and make.
#   make demo    install into .venv and compare the papers' schemes on a sample
#   make test    the whole test suite         make check   format, lint, types, architecture
#   make test-fast   the tests of single files, the golden cases and the command line: two minutes; not what compiles
#   make gpu-check   an NVIDIA GPU against the simulator, every instruction; fails where there is none
#   make wheel   dist/*.whl with machine code for LEVELS: the simulator need not be compiled where it fits
#   make site    the documentation as pages that work from files, in build/site
#   make clean   remove .venv and what the tools leave behind

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
SAMPLE ?= hotspot
CUDA_BINDINGS ?= cuda-bindings==13.5.0 cuda-pathfinder==1.9.0
ROWS ?=
TEST_WORKERS ?= 2
LEVELS ?= $(if $(filter aarch64 arm64,$(shell uname -m)),aarch64,x86-64-v3)
# their tests compile single functions of the simulator: half of the time of all tests of single files
SLOW_UNITS := --ignore=tests/unit/ptxsim/timing --ignore=tests/unit/ptxsim/execute
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: all demo test test-fast check format gpu-check wheel site clean
all: demo

demo: $(STAMP)
	$(BIN)/ptxtool compare $(SAMPLE)

test: $(STAMP)
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile --no-loadscope-reorder

test-fast: $(STAMP)
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile --no-loadscope-reorder -m "not slow" $(SLOW_UNITS) tests/unit tests/cases tests/notes tests/cli

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/unit/test_architecture.py

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

gpu-check: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(CUDA_BINDINGS)
	cd tests && ../$(BIN)/python -m gpu $(ROWS)

wheel: $(STAMP)
	rm -rf sim/ptxsim/prepared
	set -e; for level in $(LEVELS); do $(BIN)/python -m ptxsim.prepare $$level; done
	$(BIN)/python -m build --wheel --no-isolation
	rm -rf sim/ptxsim/prepared

site: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --config-file website/mkdocs.yml
	@echo "build/site/index.html"

$(STAMP): requirements.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "no Python >= 3.11 with venv on the PATH; install one, or: make PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

clean:
	rm -rf .venv build dist sim/ptxsim/prepared .mypy_cache .pytest_cache .ruff_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
