# Everything needs only Python 3.10 to 3.13 and make; each target does its own set-up. `make help` lists them.
#   PYTHON=…   the Python to make the environment with; without it, the newest suitable one on the PATH
#   ARGS=…     more arguments for the program behind a target, as in `make test ARGS='-k ledger -x'`

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory

PYTHON ?=
ARGS :=
VENV := .venv
OLDEST := $(VENV)-oldest
WHEEL := $(VENV)-wheel
LOCK := $(VENV)-lock
PRETTIER ?= $(VENV)/prettier/node_modules/.bin/prettier

# What a caller's shell sets for other projects must not reach ours: other packages, or pip installing outside of the venv.
unexport PYTHONPATH PYTHONHOME PYTHONUSERBASE MYPYPATH PYTEST_ADDOPTS PYTEST_PLUGINS PIP_TARGET PIP_PREFIX PIP_REQUIRE_VIRTUALENV
export PIP_USER := 0
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1

# A venv that was made for another folder (a copied checkout would import the code that it was copied from), whose Python
# is gone, or that is not of the Python asked for now, is made anew.
define stale
$(shell [ ! -e '$(1)/made-in' ] || { \
	[ "$$(cat '$(1)/made-in')" = '$(CURDIR)' ] && '$(1)/bin/python' -c '' 2>/dev/null && \
	{ [ -z '$(PYTHON)' ] || [ "$$('$(1)/bin/python' -c 'import sys; print(sys.version)')" = \
		"$$('$(PYTHON)' -c 'import sys; print(sys.version)' 2>/dev/null)" ]; }; \
	} || echo stale)
endef
$(foreach venv,$(VENV) $(OLDEST),\
	$(if $(call stale,$(venv)),$(eval .PHONY: $(venv)/made-in $(venv)/runtime $(venv)/dev $(venv)/browser)))

# Makes the venv $(1). `command -v` is not enough to find a Python: a version manager's placeholder is on the PATH too.
define venv
@set -e; found=; lacking=; \
for python in $(if $(PYTHON),'$(PYTHON)',python3.13 python3.12 python3.11 python3.10 python3 python); do \
	"$$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1 || continue; \
	if "$$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then found=$$python; break; fi; \
	lacking="$$lacking $$python"; \
done; \
if [ -z "$$found" ] && [ -n "$$lacking" ]; then \
	echo "error:$$lacking cannot make virtual environments: the modules venv and ensurepip are missing." >&2; \
	echo "       Install them (on Debian and Ubuntu: apt-get install python3-venv), or give another: make PYTHON=..." >&2; \
	exit 1; \
elif [ -z "$$found" ]; then \
	echo "error: $(if $(PYTHON),PYTHON=$(PYTHON) is not,there is no) Python 3.10, 3.11, 3.12 or 3.13$(if $(PYTHON),, on the PATH)." >&2; \
	echo "       Install one, or say where it is: make PYTHON=/path/to/python3.12" >&2; \
	exit 1; \
fi; \
if [ -e '$(1)' ] && [ ! -e '$(1)/pyvenv.cfg' ]; then \
	echo "error: $(1) is in the way: it is not a virtual environment. Move it, or give another name: make VENV=..." >&2; \
	exit 1; \
fi; \
echo "Setting up $(1) with $$("$$found" --version); the first time takes about a minute ..."; \
rm -rf '$(1)'; "$$found" -m venv '$(1)'; printf '%s\n' '$(CURDIR)' > '$(1)/made-in'
endef

# Installs into the venv $(1) what $(2) names, in the versions of the lock file $(3).
define install
@'$(1)/bin/python' -m pip install -qq --constraint $(3) $(2) || { \
	echo "error: installing $(2) failed; pip says why above. The versions are those of $(3)." >&2; exit 1; }
@touch $@
endef

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: $(VENV)/dev ## the environment with everything for development, in .venv

.PHONY: demo
demo: $(VENV)/runtime ## watch a memory being written, edited and used; needs no key
	@$(VENV)/bin/python -m sandbox_memory demo $(ARGS)

.PHONY: test
test: $(VENV)/dev ## all tests, in as many processes as there are cores; ARGS='-n 0' for one
	$(VENV)/bin/python -m pytest -n auto --dist worksteal $(ARGS)

.PHONY: check
check: test checks ## everything: tests, lint, types, the oldest SDK, the wheel, prettier

.PHONY: web-test
web-test: $(VENV)/browser ## the local page in a real browser, if chromium is installed; WEB_SHOTS=1 for docs/*.png
	$(VENV)/bin/python -m pytest -m browser tests/test_web_browser.py --timeout 300 $(ARGS)

.PHONY: checks
checks: lint types contract wheel prettier ## what `make check` does besides the tests

.PHONY: lint
lint: $(VENV)/dev ## ruff: rules and format
	$(VENV)/bin/python -m ruff check .
	$(VENV)/bin/python -m ruff format --check .

.PHONY: format
format: $(VENV)/dev ## let ruff mend what it can
	$(VENV)/bin/python -m ruff check --fix .
	$(VENV)/bin/python -m ruff format .

.PHONY: types
types: $(VENV)/dev ## mypy, strict
	$(VENV)/bin/python -m mypy --strict sandbox_memory

.PHONY: contract
contract: $(OLDEST)/dev ## the SDK's contract, on the oldest SDK and libraries that pyproject.toml admits
	$(OLDEST)/bin/python -m pytest $(if $(ARGS),$(ARGS),tests/test_contract.py tests/test_capability.py)

.PHONY: wheel
wheel: $(VENV)/dev ## build the wheel, install it elsewhere, run the demo from there
	rm -rf dist $(WHEEL)
	$(VENV)/bin/python -m build --wheel --no-isolation --outdir dist . >/dev/null
	@$(VENV)/bin/python -m venv $(WHEEL) && printf '%s\n' '$(CURDIR)' > $(WHEEL)/made-in
	$(WHEEL)/bin/python -m pip install -qq --constraint requirements.lock dist/*.whl
	@set -e; here=$$(pwd); empty=$$(mktemp -d); trap 'rm -rf "$$empty"' EXIT; cd "$$empty"; \
	"$$here/$(WHEEL)/bin/python" -c 'import pathlib, sys, sandbox_memory; \
		sys.exit(pathlib.Path(sys.prefix) not in pathlib.Path(sandbox_memory.__file__).parents)'; \
	echo "python -m sandbox_memory demo    # from the wheel, in an empty folder"; \
	"$$here/$(WHEEL)/bin/python" -m sandbox_memory demo > demo.log 2>&1 || { cat demo.log >&2; exit 1; }; \
	echo "the demo ran from the wheel: $$(wc -l < demo.log) lines"

.PHONY: prettier
prettier: $(VENV)/dev ## the tests that need prettier, where Node's npm is
	@if command -v npm >/dev/null 2>&1; then \
		[ -x '$(PRETTIER)' ] || npm install --silent --no-save --no-package-lock --no-audit --no-fund \
			--prefix '$(VENV)/prettier' prettier@3.10.1; \
		echo "python -m pytest -k prettier"; \
		PRETTIER="$(abspath $(PRETTIER))" '$(VENV)/bin/python' -m pytest -k prettier tests/test_document_properties.py; \
	else \
		echo "npm is not installed: the tests with prettier are left out"; \
	fi

.PHONY: bench
bench: $(VENV)/dev ## figures beside the SDK's Memory, in minutes; ARGS=--quick for a first look
	@$(VENV)/bin/python -m benchmarks $(ARGS)

.PHONY: bench-edits
bench-edits: $(VENV)/dev ## 2,000 hand edits while agents work: which survive, beside the SDK's Memory
	@$(VENV)/bin/python -m benchmarks --only edits $(ARGS)

.PHONY: security
security: $(VENV)/dev ## every promise of docs/security.md with its figure; ARGS=--quick, --tests-only or "--data FOLDER"
	@[ -d '$(VENV)/corpora' ] || $(VENV)/bin/python -m pip install -qq --no-deps --target '$(VENV)/corpora' \
		bastioncorpus==0.6.0 agentdojo==0.1.35 pyyaml==6.0.4 || { rm -rf '$(VENV)/corpora'; \
		echo "the corpora could not be installed: their measurement is left out"; }
	@PYTHONPATH='$(abspath $(VENV))/corpora' $(VENV)/bin/python -m benchmarks.security $(ARGS)

.PHONY: proof
proof: $(VENV)/dev ## long random trials: processes killed anywhere
	$(VENV)/bin/python -m pytest -m proof --timeout 1800 $(ARGS)

.PHONY: lock
lock: $(VENV)/made-in ## write the lock files anew; ARGS=--upgrade for the newest versions
	[ -d $(LOCK) ] || $(VENV)/bin/python -m venv $(LOCK)
	$(LOCK)/bin/python -m pip install -qq 'uv>=0.11,<1'
	$(COMPILE) --extra dev --extra browser --output-file requirements-dev.lock $(ARGS)
	$(COMPILE) --extra web --constraint requirements-dev.lock --output-file requirements.lock $(ARGS)
	$(COMPILE) --extra dev --resolution lowest-direct --output-file requirements-oldest.lock $(ARGS)

COMPILE = $(LOCK)/bin/python -m uv pip compile pyproject.toml --quiet --universal --python-version 3.10 --no-annotate \
	--custom-compile-command 'make lock'

.PHONY: clean
clean: ## remove environments, caches and builds
	rm -rf $(VENV) $(OLDEST) $(WHEEL) $(LOCK) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/made-in:
	$(call venv,$(VENV))

$(OLDEST)/made-in:
	$(call venv,$(OLDEST))

$(VENV)/runtime: pyproject.toml requirements.lock | $(VENV)/made-in
	$(call install,$(VENV),--editable .,requirements.lock)

$(VENV)/dev: pyproject.toml requirements-dev.lock | $(VENV)/made-in
	$(call install,$(VENV),--editable '.[dev]',requirements-dev.lock)
	@touch $(VENV)/runtime

$(VENV)/browser: $(VENV)/dev
	$(call install,$(VENV),--editable '.[browser]',requirements-dev.lock)

$(OLDEST)/dev: pyproject.toml requirements-oldest.lock | $(OLDEST)/made-in
	$(call install,$(OLDEST),--editable '.[dev]',requirements-oldest.lock)
