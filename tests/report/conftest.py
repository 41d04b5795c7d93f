"""The small world and the deciders of the evaluation tests."""

from tests.evaluation.conftest import *  # noqa: F403
