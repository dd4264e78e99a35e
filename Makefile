# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
RELEASE := .venv-release
# Pins for everything; pip must see them in the same command that asks for a package.
PIP    := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

TORTURED := tests/reliability tests/server/test_gate.py tests/server/test_guard.py tests/server/test_replies.py \
	tests/server/test_rounds.py tests/test_storage.py tests/config/test_files.py \
	tests/config/test_experiment_sites.py tests/data/test_safe_files.py tests/data/test_label_table.py \
	tests/data/test_decode.py tests/data/test_folder.py tests/data/test_sites.py \
	tests/deployment/test_stragglers.py tests/deployment/test_fuzz.py

.DEFAULT_GOAL := help
.PHONY: help configs results errors settings reference docs demo federation test test-deployment test-newest-flower test-docs test-slow torture bench bench-peers check format clean \
	lock wheel sbom release audit tag pictures

help: ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18

demo: $(VENV)/core ## Install, then watch SemiAnAgg train ten sites (about 3 minutes)
	$(BIN)/fedsemi demo

federation: $(VENV)/flower ## Train over TLS: a coordinator and three sites as processes
	$(BIN)/fedsemi federation configs/federation.toml --out runs/federation

test-deployment: $(VENV)/flower $(VENV)/dev ## Test a real deployment: keys, kills, restarts, bits
	$(BIN)/python -m pytest -m slow tests/deployment

test-newest-flower: $(VENV)/dev ## Try the newest Flower's names, in an environment of its own
	$(BIN)/python tools/newest_flower.py

# Tests start hundreds of processes: let the first of them keep what it compiled.
test test-slow test-docs test-deployment: export PYTHONDONTWRITEBYTECODE :=

test: check ## Install, then run the checks and the fast tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

test-slow: $(VENV)/dev ## Run the tests that take long
	$(BIN)/python -m pytest -m slow

test-docs: $(VENV)/dev ## Type all that pages, examples and notebooks say, also what takes long
	$(BIN)/python -m pytest -m "slow or not slow" tests/test_pages.py tests/test_examples.py \
		tests/test_first_hour.py tests/tools

bench: $(VENV)/dev ## Measure speed and memory, write records and the pages that show them (about 16 min)
	$(BIN)/python -m benchmarks

bench-peers: $(VENV)/dev ## Measure the same round in other frameworks, write benchmarks/peers.md (about 20 min)
	$(BIN)/python -m benchmarks.peers

torture: $(VENV)/dev ## Kill, corrupt and starve runs, with the nightly counts; write docs/reliability.md
	FEDSEMI_TORTURE=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(TORTURED) \
		-m "slow or not slow" --timeout 0 --keep-promises
	$(BIN)/python -m benchmarks.pages

configs: $(VENV)/core ## Write the configs of the paper anew, from the profile `paper`
	$(BIN)/python -m fedsemi.evidence.shipped

errors: $(VENV)/core ## Write docs/errors.md anew, from the table of codes
	$(BIN)/python -m fedsemi.text.error_codes docs/errors.md

settings: $(VENV)/core ## Write docs/settings.md anew, from the classes that check a config
	$(BIN)/python -m tools.site.settings_page docs/settings.md

docs: $(VENV)/docs ## Build the documentation site into build/site; any warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

reference: $(VENV)/core ## Write what the command line knows by heart anew (20 s)
	$(BIN)/python -m fedsemi.cli.write_reference

pictures: $(VENV)/dev ## Draw the pictures of docs/architecture.md anew, from the code
	$(BIN)/python -m tools.draw

results: $(VENV)/core ## Write the numbers of README and docs from the records
	$(BIN)/python -m fedsemi.evidence.publish
	$(BIN)/python -m fedsemi.leakage.publish
	$(BIN)/python -m fedsemi.asking.publish
	$(BIN)/python -m benchmarks.pages

check: $(VENV)/dev ## Lint, type-check, and check who imports whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/dev ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: $(VENV)/flower ## Write requirements/*.txt: all versions with hashes, from the pins
	$(BIN)/python tools/lock.py

wheel: $(RELEASE)/ready ## Build wheel and sdist, with the pinned back-end, into dist
	$(RELEASE)/bin/python -m build --no-isolation --outdir dist

sbom: $(RELEASE)/ready ## Write dist/fedsemi.cdx.json: all parts of a deployment (SBOM)
	mkdir -p dist
	cat requirements/deploy.txt requirements/torch.txt | $(RELEASE)/bin/cyclonedx-py \
		requirements --pyproject pyproject.toml --output-reproducible \
		--output-file dist/fedsemi.cdx.json -

release: wheel sbom ## Make all files of a release, with their SHA-256, in dist
	cd dist && sha256sum *.whl *.tar.gz *.cdx.json > SHA256SUMS

audit: $(RELEASE)/ready ## Ask a service for known holes in what is deployed (network)
	$(RELEASE)/bin/pip-audit --require-hashes --disable-pip \
		-r requirements/deploy.txt -r requirements/torch.txt

tag: ## Tag this commit as the release that its files say
	$(PYTHON) tools/tag.py

clean: ## Remove the virtual environment and caches
	rm -rf $(VENV) $(RELEASE) .venv-newest-flower dist .mypy_cache .ruff_cache .pytest_cache .hypothesis build

$(VENV)/core: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	@touch $@

$(VENV)/dev: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable ".[dev,docs,elpv,flower,medical,export,tensorboard,pretrained]"
	@touch $@ $(VENV)/core $(VENV)/docs

$(VENV)/docs: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable ".[docs]"
	@touch $@ $(VENV)/core

$(VENV)/flower: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable ".[flower]"
	@touch $@ $(VENV)/core

# By hash, and apart from what is developed and deployed.
$(RELEASE)/ready: requirements/release.txt
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
		--only-binary :all: --require-hashes -r requirements/release.txt
	@touch $@
