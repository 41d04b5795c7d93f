"""The figures of the PlanRAG paper (Lee, An and Kim, 2024): Tables 4 to 7, 10 to 12, Figures 5, 6.

Bars that the paper only draws have no number.
"""

from __future__ import annotations

from importlib import resources

from dqa.evaluation.papers import Publication

PAPER = Publication.model_validate_json(
    resources.files("dqa_planrag").joinpath("published.json").read_text("utf-8")
)
