.PHONY: check lint test eval

check:            ## every gate: lint, types, tests
	python3 start.py check
lint:             ## lint, format and types
	python3 start.py lint
test:             ## tests that take short
	python3 start.py test
eval:             ## the agents on generated questions
	python3 start.py eval
