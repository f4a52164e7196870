# Every target installs its prerequisites. `make help` lists the targets.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PLUGINS := $(wildcard plugins/*)
PROJECTS := pyproject.toml $(wildcard plugins/*/pyproject.toml)
# The plugins of a server without a configuration; `make install` adds all others.
DEFAULTS := storage_local login_sms login_email login_passkey factor_totp login_pages share_links console
SERVED := pyproject.toml $(DEFAULTS:%=plugins/%/pyproject.toml)
CLIENT := clients/python
SIMULATORS := tests/simulators
UV := $(BIN)/uv
DIST := dist
SERVING := $(VENV)/.serving
INSTALLED := $(VENV)/.installed

# pip compiles only packages that are not editable. Where PYTHONDONTWRITEBYTECODE is set, each process would
# compile all modules again.
COMPILE := $(BIN)/python -m compileall -q core/src $(CLIENT)/src $(SIMULATORS)/src $(addsuffix /src,$(PLUGINS))

# uv compiles no package either, and the tests start hundreds of processes. Without the large packages that
# other packages require and of which no process imports more than a few modules. A module that this version
# of Python cannot compile is no error, because nothing imports it.
UNUSED := /(mpmath|networkx|sympy|phonenumbers/(carrier|geo|tz)data)/
COMPILE_PACKAGES := $(BIN)/python -m compileall -qq -j 0 -x '$(UNUSED)' $(VENV)/lib/python*/site-packages

# Print the entries of the given packages in a lock file, which is read from standard input.
space := $(subst ,, )
locked = sed -En '/^($(subst $(space),|,$1))==/,/[^\\]$$/p'
GET_UV := install --disable-pip-version-check --no-compile --require-hashes -r $(VENV)/uv.lock

# If the cache contains everything, uv does not query the index about each package, which takes seconds.
install = $(UV) pip install --offline --quiet $(FROM_LOCK) $1 2> /dev/null || $(UV) pip install $(FROM_LOCK) $1
FROM_LOCK := --python $(BIN)/python --require-hashes

LOCK := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-annotate --no-header --no-emit-package strongroom --no-emit-package strongroom-login-oauth \
	--no-emit-package strongroom-login-oidc
EXTRAS := --extra postgresql --extra otlp --extra age

.PHONY: help install serve dist dist-npm release test test-all test-postgresql test-quick test-durations test-timing test-image test-pooled faults test-clients screenshots contact-sheet icons mutants lint client docs docs-serve bench bench-stores lock clean

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

install: $(INSTALLED) ## Install the server, all plugins and the developer tools into .venv

# uv resolves nothing here: all versions and hashes are in the lock file, its own included. The pip of $(PYTHON)
# installs uv, because a new environment with its own pip takes as long as the whole installation.
$(UV): requirements-dev.lock
	test -x $(BIN)/python || $(PYTHON) -m venv --without-pip $(VENV)
	$(call locked,uv) < $< > $(VENV)/uv.lock
	@echo "Downloading uv, which installs everything else"
	$(PYTHON) -m pip --python $(BIN)/python $(GET_UV) \
		|| { $(BIN)/python -m ensurepip && $(BIN)/python -m pip $(GET_UV); }
	touch $@

# The installed metadata has the version.
$(SERVING): requirements-serve.lock $(SERVED) core/src/strongroom/version.py release/editables.py | $(UV)
	@echo "Installing the server and its default plugins into $(VENV)"
	$(call locked,hatchling pip) < requirements-dev.lock > $(VENV)/builders.lock
	$(call install,-r requirements-serve.lock -r $(VENV)/builders.lock --constraints requirements-dev.lock)
	$(BIN)/python -m release.editables $(UV) . $(DEFAULTS:%=plugins/%)
	touch $@

$(INSTALLED): requirements-dev.lock $(PROJECTS) $(SERVING) $(CLIENT)/pyproject.toml $(SIMULATORS)/pyproject.toml
	@echo "Installing all plugins and the developer tools into $(VENV)"
	$(call install,-r requirements-dev.lock)
	$(BIN)/python -m release.editables $(UV) $(filter-out $(DEFAULTS:%=plugins/%),$(PLUGINS)) $(CLIENT) $(SIMULATORS)
	@echo "Compiling the packages"
	$(COMPILE)
	-$(COMPILE_PACKAGES)
	touch $@

serve: $(SERVING) ## Run a development server on http://127.0.0.1:8000
	$(BIN)/strongroom serve

# The tests start hundreds of processes. Many tests wait for servers, hence twice as many workers as cores.
# A module runs in one worker, whose classes share its servers. tests/support/collection.py orders the modules.
# pytest keeps the test modules that it compiles, unless PYTHONDONTWRITEBYTECODE is set.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n $$(( $$(nproc) * 2 )) --dist loadfile --no-loadscope-reorder

test: install ## Run the tests: on SQLite, and on PostgreSQL where the database matters
	$(COMPILE)
	$(PYTEST) -m "not extended and not second_run"

test-all: test ## Run all tests: also what installs, builds or measures, and each fourth of the others on PostgreSQL
	$(PYTEST) -m extended

test-postgresql: install ## Run on PostgreSQL what "make test-all" runs on SQLite only; takes minutes
	$(PYTEST) -m second_run

QUICK := users login tokens files uploads downloads grants moves tenants conventions
SLOW := cli content/storage extensions/storage_maintenance content/files/bundles

# Small campaigns, no PostgreSQL, and neither commands nor large archives.
test-quick: install ## Run the unit tests and the main tests of the REST API on SQLite, in about a minute
	STRONGROOM_TEST_SCALE=0.05 $(BIN)/pytest -n $$(nproc) --dist loadfile -k "not postgresql" \
		$(SLOW:%=--ignore=tests/unit/%) tests/unit $(QUICK:%=tests/rest/test_%.py)

test-durations: install ## Run all tests and write how long each module takes; needs an idle machine
	STRONGROOM_TEST_DURATIONS=write $(MAKE) test-all

TIMED := tests/rest/test_enumeration.py plugins/login_pages/tests/rest/test_page_enumeration.py \
	tests/e2e/test_lighthouse.py plugins/console/tests/e2e/test_interactions.py

test-timing: install ## Check that response times do not reveal accounts, and how fast pages load; needs an idle machine
	STRONGROOM_TEST_TIMING=1 $(BIN)/pytest -m "" $(TIMED)

test-image: install ## Build the image from a clean Debian root with buildah, and serve it; needs root and minutes
	STRONGROOM_TEST_IMAGE=1 $(BIN)/pytest tests/e2e/test_image.py

test-pooled: install ## Run the main tests of the REST API behind pgbouncer, in both of its modes; takes minutes
	STRONGROOM_TEST_POOLED=1 $(BIN)/pytest tests/e2e/test_pooled_suite.py

# Needs root, haproxy and PostgreSQL of Debian. OPTIONS="--layout two --only primary" for some; --help has all.
faults: install ## Inject faults into the reference layouts under load, and print what users see; takes an hour
	$(BIN)/python -m tests.faults $(OPTIONS)

CLIENTS_OF_OTHERS := tests/e2e/test_openapi.py tests/e2e/test_resumed_transfers.py
DOWNLOADERS := plugins/share_links/tests/e2e/test_download_programs.py plugins/share_links/tests/e2e/test_visitors.py

test-clients: install ## Run generators and transfer programs of others against a server, and name the missing ones
	$(BIN)/pytest -m "" -rs -k "not postgresql" $(CLIENTS_OF_OTHERS) $(DOWNLOADERS)

SHEETS := plugins/console/tests/e2e/test_design.py tests/e2e/test_contact_sheets.py

contact-sheet: install ## Photograph all pages into build/contact-sheet, with Chromium; OPTIONS="-k sign-in" for some
	STRONGROOM_TEST_CONTACT_SHEET=build/contact-sheet $(BIN)/pytest -n0 -m "" $(OPTIONS) $(SHEETS)

icons: install ## Write the sprite of the icons that its manifest names
	$(BIN)/python -m release.icons

screenshots: install ## Photograph the pages that the documentation shows, with Chromium
	STRONGROOM_TEST_SCREENSHOTS=write $(BIN)/pytest tests/docs/test_screenshots.py

mutants: install ## Remove each security guard from a copy of the code and expect a test to fail
	STRONGROOM_TEST_MUTANTS=all $(BIN)/pytest tests/mutants

lint: install ## Check style, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

client: install ## Generate the Python client from the OpenAPI document
	$(BIN)/python $(CLIENT)/generate_client.py

docs: install ## Generate the reference from the code and build the site into docs/_build
	$(BIN)/python docs/generate.py
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build

docs-serve: docs ## Serve the site on http://127.0.0.1:8001
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory docs/_build 8001

bench: install ## Measure, next to the limits, in one run; OPTIONS=--quick only shows that all benches run
	$(BIN)/python -m bench $(OPTIONS)

bench-stores: install ## Count the requests to object stores and compare with boto3
	$(BIN)/python -m bench.stores

# The build backend takes all timestamps from one constant, so the same tree yields the same bytes.
dist: install ## Build the wheels and source archives of the server, its plugins and the client into dist
	rm -rf $(DIST)
	@echo "Building the distributions into $(DIST)"
	$(UV) build --quiet --all-packages --python $(BIN)/python --no-build-isolation --out-dir $(DIST)

dist-npm: install ## Build the npm package of the TypeScript client into dist
	mkdir -p $(DIST)
	$(BIN)/strongroom --config clients/openapi.toml openapi > clients/typescript/openapi.json
	cd clients/typescript && npm ci --no-audit --no-fund && npm run generate && npm run build \
		&& npm pack --pack-destination ../../$(DIST)

# With VERSION=1.2.3, or the next version; publishes nothing.
release: install ## Write the changelog, build and check the distributions, commit and tag
	$(BIN)/python -m release $(VERSION)

# A resolution may choose only what the one before chose.
lock: $(UV) ## Resolve the dependencies of the developer tools, the server and a first start into lock files
	$(LOCK) $(EXTRAS) --upgrade --extra testing --group dev --output-file requirements-dev.lock $(PROJECTS) \
		$(CLIENT)/pyproject.toml $(SIMULATORS)/pyproject.toml
	$(LOCK) $(EXTRAS) --constraints requirements-dev.lock --output-file requirements.lock $(PROJECTS)
	$(LOCK) --constraints requirements.lock --output-file requirements-serve.lock $(SERVED)

clean: ## Remove generated files; data stays
	rm -rf $(VENV) docs/_build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache build dist
