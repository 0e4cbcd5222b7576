# Two commands do everything: `make demo` and `make test`. Each sets up .venv first when it is missing or outdated.
# PYTHON=... names the interpreter to build .venv with; ARGUS_INSTALL=no keeps make from installing system packages.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.up-to-date
# By a name of its own: a recipe that says MAKE is run by `make -n`, too.
LINT = $(MAKE) --no-print-directory lint

# IPython warns when another environment is active in the shell, and a warning fails a test.
unexport VIRTUAL_ENV
# The tests start hundreds of Pythons; where none may keep what it compiled, each compiles the package again. `test`
# compiles it once before, since three processes that collect tests at the same time would each do so.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo lab test check lint docs bench bench-check paper notebooks release trust clean java

help: ## list the verbs
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

demo: $(STAMP) java ## run the quickstart notebook on the sample data, write build/quickstart.html
	@sh scripts/system-packages.sh dot
	$(BIN)/python -m workbench.notebook.demo

lab: $(STAMP) java ## open the quickstart notebook in JupyterLab
	$(BIN)/jupyter lab notebooks/01-quickstart.ipynb

test: $(STAMP) java ## run the whole test suite, and lint beside it
	@sh scripts/system-packages.sh chromium
	@$(BIN)/python -m compileall -q -j 2 workbench benchmarks
	@mkdir -p build
	@nice $(LINT) > build/lint.log 2>&1 & lint=$$!; \
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder $(ARGS); tests=$$?; \
	wait $$lint; linted=$$?; cat build/lint.log; exit $$((tests + linted))

check: $(STAMP) ## a case of each test that needs no Spark and starts no process, others in each run, in a minute or so
	ARGUS_FEW=1 $(BIN)/python -m pytest -n 3 --dist worksteal -m "not spark and not slow" $(ARGS)

lint: $(STAMP) ## ruff, mypy, the layers and the words
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/words.py

docs: $(STAMP) ## build the documentation site, build/site/index.html
	@sh scripts/system-packages.sh dot
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(STAMP) java ## run a benchmark (ARGS="speed med --batches 30")
	$(BIN)/python -m benchmarks $(or $(ARGS),speed examples-fed)

bench-check: $(STAMP) java ## compare ratios of speed with the committed ones (ARGS=--write: commit these)
	$(BIN)/python -m benchmarks.gate $(ARGS)

paper: $(STAMP) java ## run the papers' experiments, write their tables to build/papers (ARGS=--quick)
	$(BIN)/python -m benchmarks.paper $(ARGS)

notebooks: $(STAMP) java ## run the notebooks and keep them with their outputs (ARGS=notebooks/01-quickstart.ipynb)
	$(BIN)/python scripts/notebooks.py $(ARGS)

release: $(STAMP) java ## run the papers' experiments, build wheel and sdist, try the wheel (ARGS="PYTHON PYTHON", PAPER=--quick)
	$(BIN)/python -m benchmarks.paper $(PAPER)
	$(BIN)/python scripts/release.py $(ARGS)

trust: $(STAMP) java ## run what shows that answers are right, and write docs/trust.md (ARGS="--sequences 5000")
	$(BIN)/python scripts/trust_page.py $(ARGS)

clean: ## remove .venv and everything that was built
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis spark-warehouse metastore_db derby.log
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

java:
	@sh scripts/system-packages.sh java

# Exact versions come from the lock file, and the project is installed in place without asking for anything else.
$(STAMP): requirements.lock pyproject.toml
	@sh scripts/system-packages.sh python
	@rm -f $@
	"$$(sh scripts/find-python.sh)" -m venv --clear $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements.lock
	$(BIN)/python -m pip install --disable-pip-version-check -q --no-build-isolation --no-deps -e .
	@touch $@
