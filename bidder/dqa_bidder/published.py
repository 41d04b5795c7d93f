"""The figures of the BIDDER paper (Zhang et al., 2024, sections 3.1.2 to 3.2.3): Tables 1 to 3.

Figures are as printed, even if a printed mean is not the mean of its row. Players and opponents
have the names of the corresponding deciders and programs.
"""

from __future__ import annotations

from importlib import resources

from dqa.evaluation.papers import Publication

PAPER = Publication.model_validate_json(
    resources.files("dqa_bidder").joinpath("published.json").read_text("utf-8")
)
