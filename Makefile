# `make demo` shows what the testbed does; `make test` checks it, and `make nightly` what takes longer. Each sets up what
# is missing first.
TESTBED = .venv/bin/testbed
PYTHON = .venv/bin/python
DEMO = results/quickstart

# How many tests run side by side: make test WORKERS=1. Those of one `xdist_group` run one after the other.
WORKERS = auto
PYTEST = $(PYTHON) -m pytest -n $(WORKERS) --dist loadgroup
# What `make nightly` reproduces of the publications: quick (short runs) or full (their own numbers).
SIZE = quick
NIGHTLY = results/nightly

.PHONY: setup lock demo check check-style check-types check-tests test nightly bench regression regression-compare clean

setup:
	@./setup.sh

# The Python packages of `make setup`, with their versions and hashes, anew: the newest that pyproject.toml allows.
lock:
	python3 -m venv build/lock
	build/lock/bin/python -m pip install --quiet uv
	printf 'hatchling\neditables\n' >build/lock/backend.in
	build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade --no-header \
		--no-emit-index-url --no-annotate --extra all --extra dev pyproject.toml build/lock/backend.in -o requirements.lock

demo: setup
	$(TESTBED) run scenarios/quickstart.yaml -o $(DEMO)
	$(TESTBED) results $(DEMO)
	$(TESTBED) plot $(DEMO) profile -o $(DEMO)/profile.png
	$(TESTBED) report $(DEMO)
	@echo
	@echo "The report:   $(CURDIR)/$(DEMO)/report.html"
	@echo "The figure:   $(CURDIR)/$(DEMO)/profile.png"
	@echo "All results:  $(CURDIR)/$(DEMO) (a folder for each trial)"
	@echo "The command:  $(CURDIR)/$(TESTBED) --help"

# The three side by side; what each says comes in one piece.
check: setup
	@$(MAKE) --no-print-directory --jobs=3 --output-sync=target check-style check-types check-tests

check-style:
	$(PYTHON) -m ruff check .

check-types:
	$(PYTHON) -m mypy

check-tests:
	$(PYTEST) -q -m "not lab and not root and not slow and not nightly"

test:
	@./setup.sh test
	$(PYTEST) -m "not nightly" --durations=200 --durations-min=1

# All tests and all rows of the publications. A row that is not met, or of which nobody can tell, is no failure here; compare the page with
# docs/reproduction.md.
nightly:
	@./setup.sh test
	$(PYTEST)
	$(TESTBED) reproduce --$(SIZE) --results $(NIGHTLY) --output $(NIGHTLY)/reproduction.md || case $$? in 1|5) ;; *) exit 1 ;; esac

bench: setup
	$(PYTHON) -m benchmarks

REGRESSION = $(patsubst scenarios/regression/%.yaml,%,$(wildcard scenarios/regression/*.yaml))

# The regression scenarios on one lab kernel: make regression KERNEL=mine. A rule that does not hold is no failure here.
regression: setup
	@test -n "$(KERNEL)" || { echo "say which kernel: make regression KERNEL=NAME (testbed kernel list)"; exit 2; }
	@for name in $(REGRESSION); do \
		$(TESTBED) run scenarios/regression/$$name.yaml -o results/regression/$(KERNEL)/$$name --set 'kernel={lab: $(KERNEL)}' || case $$? in 1|5) ;; *) exit 1 ;; esac; \
	done

# What changed between two kernels, all scenarios as one suite: make regression-compare BASE=base CANDIDATE=mine
regression-compare: setup
	@test -n "$(BASE)" -a -n "$(CANDIDATE)" || { echo "say which: make regression-compare BASE=NAME CANDIDATE=NAME"; exit 2; }
	@for name in $(REGRESSION); do \
		test -f results/regression/$(BASE)/$$name/run.json || { echo "$(BASE) has no $$name: make regression KERNEL=$(BASE)"; exit 2; }; \
	done
	@$(TESTBED) compare results/regression/$(BASE) results/regression/$(CANDIDATE)

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis $(DEMO)
	find . -name __pycache__ -prune -exec rm -rf {} +
