# `make demo` shows what the testbed does; `make test` checks it. Both set up what is missing first.
TESTBED = .venv/bin/testbed
PYTHON = .venv/bin/python
DEMO = results/quickstart

.PHONY: setup demo test check bench clean

setup:
	@./setup.sh

demo: setup
	$(TESTBED) run scenarios/quickstart.yaml -o $(DEMO)
	$(TESTBED) results $(DEMO)
	$(TESTBED) plot $(DEMO) profile -o $(DEMO)/profile.png
	@echo
	@echo "The figure:   $(CURDIR)/$(DEMO)/profile.png"
	@echo "All results:  $(CURDIR)/$(DEMO) (a folder for each trial)"
	@echo "The command:  $(CURDIR)/$(TESTBED) --help"

test: setup
	$(PYTHON) -m pytest

check: setup
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy
	$(PYTHON) -m pytest -q -m "not lab and not root and not slow"

bench: setup
	$(PYTHON) -m benchmarks

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis $(DEMO)
	find . -name __pycache__ -prune -exec rm -rf {} +
