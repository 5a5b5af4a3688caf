# The two commands of the README, and what a developer needs beside them.
VENV ?= .venv
PYTHON ?= python3
INSTALLED = $(VENV)/.installed

.PHONY: run test test-slow lint clean up down status

run: $(INSTALLED)
	$(VENV)/bin/python -m flows.run

test: $(INSTALLED)
	$(VENV)/bin/python -m pytest

# Prefect's server on loopback, a worker and the deployments: see deployments/services.py.
up down status: $(INSTALLED)
	$(VENV)/bin/python -m deployments.services $@

# What takes long: kills, full disks, real servers, quality of whole releases.
test-slow: $(INSTALLED)
	$(VENV)/bin/python -m pytest -m slow

lint: $(INSTALLED)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
	touch $(INSTALLED)

clean:
	rm -rf $(VENV) release
