# Everything needed on a fresh machine with Python >= 3.11 and make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: predict test package clean

predict: .venv/installed        ## make an environment and the first prediction
	$(BIN)/capmodel predict --nodes 3 --rf 2

test: .venv/installed-test      ## make an environment and pass all checks and tests
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -n auto -m "not alone"
	$(BIN)/pytest -m alone

package: .venv/installed-test   ## build sdist and wheel; predict from the wheel in an empty environment
	rm -rf dist build/wheel-environment
	$(BIN)/python -m build --outdir dist .
	$(PYTHON) -m venv build/wheel-environment
	build/wheel-environment/bin/pip install --quiet dist/*.whl
	cd build && wheel-environment/bin/capmodel predict --nodes 3 --rf 2 --solver mva

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable .
	touch $@

.venv/installed-test: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '.[test,live]'
	touch $@ .venv/installed

clean:
	rm -rf .venv build dist src/*.egg-info
