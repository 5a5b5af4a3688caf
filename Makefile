# The two commands of the README, and what a developer needs beside them.
VENV ?= .venv
PYTHON ?= python3
# Two stamps: a run needs the plain package, the tests need all extras.
PLAIN = $(VENV)/.installed
TESTED = $(VENV)/.installed-for-tests
INSTALL = $(PYTHON) -m venv $(VENV) && $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check

.PHONY: run test test-slow lint clean up down status

run: $(PLAIN)
	$(VENV)/bin/logveil run

test: $(TESTED)
	$(VENV)/bin/python -m pytest

# Prefect's server on loopback, a worker and the deployments: see deployments/services.py.
up down status: $(PLAIN)
	$(VENV)/bin/python -m deployments.services $@

# What takes long: kills, full disks, real servers, quality of whole releases.
test-slow: $(TESTED)
	$(VENV)/bin/python -m pytest -m slow

lint: $(TESTED)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

$(PLAIN): pyproject.toml
	$(INSTALL) -e .
	touch $@

$(TESTED): pyproject.toml
	$(INSTALL) -e ".[test]"
	touch $@

clean:
	rm -rf $(VENV) release build *.egg-info
