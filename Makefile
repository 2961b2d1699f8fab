# guestclock: `make run` and `make test` do all of their own set-up.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/pip install --quiet --disable-pip-version-check
HOT    := $(shell find src -name '*.pxd' -o -name '*.pyx') $(wildcard $(patsubst %.pxd,%.py,$(shell find src -name '*.pxd')))

.DEFAULT_GOAL := help
.PHONY: help run test test-compiled test-plain test-real soak soak-qemu mutants lint bench tools clean

help:            ## this list
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 14

run: $(VENV)/built  ## set up, then 10 s of the bundled guest and the verdict on its clock
	$(BIN)/guestclock run --seconds 10

test: lint       ## set up, then all tests that need nothing but Python, on both builds, at the same time
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-compiled test-plain

test-compiled: $(VENV)/built $(VENV)/testable
	$(BIN)/pytest -q -m 'not real' --build=compiled

test-plain: $(VENV)/built $(VENV)/testable
	$(BIN)/pytest -q -m 'not real and not compiled_only' --build=plain -p no:cacheprovider

test-real: $(VENV)/built $(VENV)/testable  ## tests with real kernels, compilers and QEMU (.ci/run installs what they need)
	$(BIN)/pytest -q -m real --build=compiled

soak: $(VENV)/built $(VENV)/testable  ## a million random steps: the 6522 against its step-by-step oracle (some minutes)
	$(BIN)/pytest -q tests/chips/test_mos6522_equal.py -k go_on --chip-steps 1000000

soak-qemu: $(VENV)/built $(VENV)/testable  ## a million random steps: QEMU's VIA on Debian's binary and by our model (some minutes)
	$(BIN)/pytest -q -s tests/qemu/test_via_equal.py --via-steps 1000000

mutants: $(VENV)/built $(VENV)/testable  ## is there a change to the 6522's source that no test sees? (an hour, one core)
	nice $(BIN)/python tests/chips/mutants.py

lint: $(VENV)/built $(VENV)/testable  ## style and strict types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(VENV)/built $(VENV)/testable  ## speed, as ratios from interleaved rounds
	$(BIN)/python -m benchmarks

$(VENV)/installed: pyproject.toml | tools
	$(PYTHON) -m venv $(VENV)
	$(PIP) 'setuptools>=77' 'cython>=3.1'
	$(BIN)/python setup.py --quiet build_ext --inplace --parallel 2
	$(PIP) --no-build-isolation --editable .
	@touch $@

# allantools asks for tools of documentation and plotting that its functions do without.
$(VENV)/testable: $(VENV)/installed
	$(PIP) --no-build-isolation --editable '.[test]'
	$(PIP) --no-deps 'allantools==2024.6'
	@touch $@

$(VENV)/built: $(VENV)/installed setup.py $(HOT)
	$(BIN)/python setup.py --quiet build_ext --inplace --parallel 2
	@touch $@

tools:
	@missing=; \
	$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || missing="$$missing python3 python3-venv"; \
	$(PYTHON) -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null || missing="$$missing python3-dev"; \
	command -v gcc >/dev/null || missing="$$missing gcc libc6-dev"; \
	if [ -n "$$missing" ]; then echo "guestclock needs:$$missing. On Debian: apt-get install$$missing" >&2; exit 4; fi

clean:           ## remove everything that was built
	rm -rf $(VENV) build src/*.egg-info
	find src -name '*.so' -delete
