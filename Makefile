.PHONY: check deep lint test eval

check:            ## lint, types and every test except the deep ones
	python3 start.py check
deep:             ## the deep tests, which check leaves out; servers by DQA_TEST_*_URL
	python3 start.py check --deep
lint:             ## lint, format and types
	python3 start.py lint
test:             ## the quick tests
	python3 start.py test
eval:             ## the agents on generated questions
	python3 start.py eval
