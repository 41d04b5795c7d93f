"""DeLLMa's prompts, filled in."""

from __future__ import annotations

from typing import Any

from dqa.deciders.prompting import fill_in


def prompt(name: str, **values: Any) -> str:  # noqa: ANN401  (whatever the template names)
    """Fill in the prompt called `name`."""
    return fill_in("dqa_dellma", name, **values)
