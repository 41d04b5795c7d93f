.PHONY: check lint test eval fuzz

check:            ## every gate: lint, types, tests
	python3 start.py check
lint:             ## lint, format and types
	python3 start.py lint
test:             ## tests that take short
	python3 start.py test
eval:             ## the agents on generated questions
	python3 start.py eval
fuzz:             ## calls of everything that the engines list; servers by DQA_TEST_*_URL
	python3 start.py fuzz
