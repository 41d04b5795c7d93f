"""The results of the LDM2 paper (Wang, Li and Zeng, 2023): Tables 1 and 2."""

from __future__ import annotations

from importlib import resources

from dqa.evaluation.papers import Publication

PAPER = Publication.model_validate_json(
    resources.files("dqa_ldm2").joinpath("published.json").read_text("utf-8")
)
