"""``python -m dqa``."""

from dqa.cli.main import run

run()
