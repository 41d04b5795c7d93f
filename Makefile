.PHONY: check lint types test bench
check: lint types test  ## every gate
lint:
	ruff check .
	ruff format --check .
types:
	mypy
test:
	pytest -n auto
