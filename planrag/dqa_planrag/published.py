"""The results of the PlanRAG paper (Lee, An and Kim, 2024): Tables 4-7 and 10-12, Figures 5 and 6.

The data contains no value for a bar without a printed number.
"""

from __future__ import annotations

from importlib import resources

from dqa.evaluation.papers import Publication

PAPER = Publication.model_validate_json(
    resources.files("dqa_planrag").joinpath("published.json").read_text("utf-8")
)
