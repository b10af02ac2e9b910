# make demo       install the core into .venv and anonymize built-in data
# make test       lint, types and tests, in about 40 minutes on 2 cores
# make test-all   the same with the slow tests and 400 new random cases for every property, in two to three hours
# make test-matrix   the wheel, the sources and the tests on every Python that is here, and with the oldest and newest packages
# make coverage   which lines the tests reach
# make bench      the book of measurements, in about an hour, into tarnkappe-book/ (one chapter: make bench WHAT=gate)
# make pictures   take the pictures of the docs anew, in a real browser
# make bench-check  fail if a key ratio became worse by a quarter, in a few minutes
# make kernels    compile the kernels that have changed since, as the tests do first (they are otherwise compiled on first use)
# make mutants FOLDER=privacy N=60   make so many small mistakes in a folder, and say which no test notices
# make site       the documentation as a web site, into tarnkappe-site/, with every link checked
# make lock       pin the newest versions that the project allows

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
WORKERS ?= auto

# Compiled bytecode makes every start of `tarn` several times faster, so it is written even where the shell says no.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo kernels test test-all test-matrix coverage bench bench-check mutants lint pictures docs site texts lock clean

demo: .venv/core.done
	@$(BIN)/tarn demo

test: .venv/test.done lint kernels
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not slow"

test-all: .venv/test.done lint kernels
	TARN_TESTS=thorough $(BIN)/pytest -n $(WORKERS) --dist worksteal

test-matrix: .venv/test.done
	$(BIN)/python -m tools.matrix $(WHAT)

coverage: .venv/test.done
	$(BIN)/pytest -n $(WORKERS) -m "not slow" --cov=src/tarnkappe --cov-report=term

lint: .venv/test.done
	$(BIN)/ruff check src tests tools benchmarks docs examples
	$(BIN)/ruff format --check src tests tools benchmarks docs examples
	$(BIN)/mypy

bench: .venv/test.done
	$(BIN)/python -m benchmarks $(WHAT)

bench-check: .venv/test.done
	$(BIN)/python -m benchmarks --check

N ?= 60

mutants: .venv/test.done
	$(BIN)/python -m tools.mutate src/tarnkappe/$(FOLDER) -n $(N)

pictures: .venv/test.done
	TARN_PICTURES=docs/images $(BIN)/pytest tests/web -k "newcomer or preview or what_is_left or fills"

texts: .venv/test.done
	$(BIN)/python tools/texts.py

docs: .venv/test.done
	$(BIN)/python docs/reference/generate.py
	$(BIN)/python -m tests.attackers.table
	$(BIN)/python -m tools.public_names

site: .venv/site.done
	$(BIN)/python -m tools.site tarnkappe-site .venv/site/bin/mkdocs

# The environment is made once and made anew when the pinned versions change. The lists of pinned versions are complete, so
# nothing is resolved (--no-deps): resolving may ask for a version that came out after the list was made.

.venv/python.done:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Tarnkappe needs Python 3.11 or newer; say which with: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "Python's venv module is missing (on Debian: apt install python3-venv)"; exit 1; }
	@touch $@

.venv/core.done: .venv/python.done requirements/core.txt pyproject.toml
	@echo "Installing the core into .venv (a minute or two) ..."
	@$(PIP) install --quiet --no-deps --require-hashes -r requirements/core.txt
	@$(PIP) install --quiet --no-deps --no-build-isolation -e .
	@touch $@

.venv/test.done: .venv/core.done requirements/test.txt benchmarks/pyproject.toml
	@echo "Installing what the tests need ..."
	@$(PIP) install --quiet --no-deps --require-hashes -r requirements/test.txt
	@$(PIP) install --quiet --no-deps --no-build-isolation -e benchmarks
	@touch $@

.venv/site.done: .venv/python.done requirements/site.txt
	@echo "Installing what makes the site ..."
	@$(PYTHON) -m venv .venv/site
	@.venv/site/bin/python -m pip --disable-pip-version-check install --quiet --no-deps --require-hashes -r requirements/site.txt
	@touch $@

kernels: .venv/core.done
	$(BIN)/python -m tarnkappe.native.build

lock:
	$(PYTHON) -m venv .venv/lock && .venv/lock/bin/pip install --quiet uv
	.venv/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --upgrade \
		--output-file requirements/core.txt pyproject.toml requirements/build.in
	.venv/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --upgrade \
		--extra dev --extra postgres --extra spark --extra gate --extra noise --extra federation --extra service --extra statistics --constraint requirements/core.txt \
		--output-file requirements/test.txt pyproject.toml requirements/build.in
	.venv/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--extra postgres --extra gate --extra noise --extra federation --extra service --extra statistics --constraint requirements/test.txt \
		--output-file requirements/service.txt pyproject.toml requirements/build.in
	.venv/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --upgrade \
		--output-file requirements/site.txt requirements/site.in

clean:
	rm -rf .venv tarnkappe-demo tarnkappe-site
