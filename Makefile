# Each target makes what it needs: a virtual environment in .venv, the packages of a dependency
# group of pyproject.toml, the extension module. A stamp in .venv says what is there already.

.NOTPARALLEL:
.PHONY: help demo test search lint format bench wheel clean FORCE

# Tried in this order; `make PYTHON=/path/to/python3 ...` names another one.
PYTHON := python3 python3.14 python3.13 python3.12 python3.11
VENV := $(CURDIR)/.venv
BIN := $(VENV)/bin
SOURCES := Cargo.toml Cargo.lock pyproject.toml \
	$(shell find rust -name '*.rs' -o -name Cargo.toml)

# Much that the tests use besides frazil is not there for Pythons without a GIL; these need none of it.
INTERPRETER := $(firstword $(wildcard $(BIN)/python) $(PYTHON))
ifeq ($(shell $(INTERPRETER) -c 'import sysconfig; print(sysconfig.get_config_var("Py_GIL_DISABLED"))'),1)
TEST_GROUP := test-threads
TESTS := tests/core tests/link/test_compile_pool.py tests/link/test_concurrent_calls.py \
	tests/jit \
	"tests/test_documentation.py::test_page[docs/threads.md]"
else
TEST_GROUP := test
TESTS :=
endif

# What the shell that runs make has set up for other projects is none of ours.
unexport PYTHONHOME PYTHONPATH PYTHONSTARTUP CONDA_PREFIX
unexport PIP_PREFIX PIP_TARGET PIP_USER PIP_REQUIRE_VIRTUALENV
export VIRTUAL_ENV := $(VENV)
export PYO3_PYTHON := $(BIN)/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1

help:
	@echo "make demo    fit regressions, a GARCH, a Kalman filter, hierarchical models and one of PyMC's"
	@echo "make test    run the Rust tests, then the Python tests"
	@echo "make search  look for faults, MINUTES (60) for each kind of search, from SEED (0) on"
	@echo "make lint    check format, style and types"
	@echo "make format  format the Rust and Python code"
	@echo "make bench   run the benchmarks, with PyTensor, JAX and tinygrad beside frazil"
	@echo "make wheel   build the wheel that users install, in target/wheels"
	@echo "make clean   delete all that the other targets made"

demo: $(VENV)/.built $(VENV)/.group-demo
	$(BIN)/python examples/logistic_regression.py
	$(BIN)/python examples/garch.py
	$(BIN)/python examples/kalman.py
	$(BIN)/python examples/pymc_model.py
	$(BIN)/python examples/eight_schools.py

# The Rust tests need neither the packages nor the extension: they run while these are installed and
# built, each of which keeps one core busy for a part of the time.
PREPARE = $(MAKE) --no-print-directory $(VENV)/.group-$(TEST_GROUP) $(VENV)/.built
test:
	$(PREPARE) & building=$$!; \
	cargo test --workspace --exclude frazil-py --exclude frazil-benches && \
	cargo test -p frazil-core --features shuttle --test schedules; \
	tested=$$?; wait $$building && exit $$tested
	$(BIN)/python -m pytest -n auto --dist worksteal $(TESTS)

MINUTES := 60
SEED := 0
search: $(VENV)/.built $(VENV)/.group-test
	$(BIN)/python tests/long/random_programs.py --minutes $(MINUTES) --seed $(SEED)
	$(BIN)/python tests/long/threads_and_forks.py --minutes $(MINUTES) --seed $(SEED)
	$(BIN)/python tests/long/altered_bytes.py --minutes $(MINUTES) --seed $(SEED)
	$(BIN)/python tests/long/memory_growth.py --minutes $(MINUTES) --seed $(SEED)

# Nothing here needs the extension: its stub is compared with it by a test.
lint: $(VENV)/.group-lint
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	PYTHONPATH=python $(BIN)/lint-imports

format: $(VENV)/.group-lint
	cargo fmt --all
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/.built $(VENV)/.group-bench
	cargo bench -p frazil-benches
	$(BIN)/python benches/import_time.py
	$(BIN)/python benches/build_time.py
	$(BIN)/python benches/gradient_time.py
	$(BIN)/python benches/graph_time.py
	$(BIN)/python benches/rewrite_time.py
	$(BIN)/python benches/perform_time.py
	$(BIN)/python benches/jit_time.py
	$(BIN)/python benches/array_time.py
	$(BIN)/python benches/linear_algebra.py
	$(BIN)/python benches/growth_time.py
	$(BIN)/python benches/growth_time.py --sizes 100 200
	$(BIN)/python benches/function_memory.py
	$(BIN)/python benches/foreign_time.py
	$(BIN)/python benches/thread_time.py
	$(BIN)/python benches/compare.py

# Without the names of its functions, which tests read in machine code and profilers show. Rust links by a
# linker of its own on this platform, which can put similar functions side by side: compression looks no
# further back than 32 KB.
comma := ,
WHEEL_ARGUMENTS = $(if $(filter x86_64-unknown-linux-gnu,$(shell rustc -vV)),\
	-- -C link-arg=-Wl$(comma)--bp-compression-sort=both)
wheel: $(VENV)/.group-wheel
	rm -f target/wheels/*.whl
	$(BIN)/maturin build --profile wheel --strip $(WHEEL_ARGUMENTS)
	$(BIN)/python tools/pack_wheel.py target/wheels/*.whl

clean:
	rm -rf $(VENV) target build .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -f python/frazil/_core*.so
	find python tests examples benches -name __pycache__ -prune -exec rm -rf {} +

# The extension module, optimised, and frazil itself as an editable install.
$(VENV)/.built: $(VENV)/.group-build $(SOURCES) $(if $(wildcard python/frazil/_core*.so),,FORCE)
	@command -v cargo >/dev/null || { echo "cargo is not on PATH: see https://rustup.rs" >&2; exit 1; }
	$(BIN)/maturin develop --release
	@touch $@

$(VENV)/.group-%: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --group $*
	@touch $@

# pip knows dependency groups since 25.1; what comes with Python may be older.
$(VENV)/.made:
	@rm -rf $(VENV); seen=; \
	for python in $(PYTHON); do \
	    $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	    seen=$$python; \
	    $$python -c 'import ensurepip, venv' 2>/dev/null || continue; \
	    echo "$$python -m venv .venv"; \
	    $$python -m venv $(VENV) || exit 1; \
	    break; \
	done; \
	if [ -z "$$seen" ]; then \
	    echo "Python >= 3.11 is needed; looked for: $(PYTHON)." >&2; \
	    echo "If it has another name: make PYTHON=/path/to/python3 ..." >&2; exit 1; \
	elif [ ! -x $(BIN)/python ]; then \
	    echo "$$seen cannot make virtual environments: its module ensurepip is missing." >&2; \
	    echo "On Debian and Ubuntu: apt-get install python3-venv." >&2; exit 1; \
	fi
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@touch $@
