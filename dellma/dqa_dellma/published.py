"""The results of the DeLLMa paper (Liu et al., 2024), as the released scripts print them."""

from __future__ import annotations

from importlib import resources

from dqa.evaluation.papers import Publication

PAPER = Publication.model_validate_json(
    resources.files("dqa_dellma").joinpath("published.json").read_text("utf-8")
)
