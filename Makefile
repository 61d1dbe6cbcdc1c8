# Everything needed on a fresh machine with Python >= 3.11 and make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: predict test check clean

predict: .venv/installed        ## an environment, and the first prediction
	$(BIN)/capmodel predict --nodes 3 --rf 2

test: .venv/installed-test      ## an environment, and all tests
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -n auto

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable .
	touch $@

.venv/installed-test: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '.[test]'
	touch $@ .venv/installed

clean:
	rm -rf .venv build dist src/*.egg-info
