"""What the PlanRAG paper printed: its Tables 4 to 7 and 10 to 12, and what is told of Figures 5, 6.

Lee, Min, Kim & Woo, 2024. Figures stand as printed; bars that are only drawn have no number here.
"""

from __future__ import annotations

from collections.abc import Iterable

from dqa.evaluation.publications import (
    Publication,
    PublishedFigure,
    PublishedRow,
    PublishedTable,
)

_LOCATING, _BUILDING = "locating", "building"
_DECIDERS = {"SingleRAG-LM": "singlerag", "IterRAG-LM": "iterrag", "PlanRAG-LM": "planrag"}


def _figure(
    scenario: str, percent: float | None, column: str = "", of: int | None = None
) -> PublishedFigure:
    share = None if percent is None else percent / 100.0
    return PublishedFigure(scenario=scenario, column=column, share=share, of=of)


def _pair(name: str, decider: str, locating: float, building: float) -> PublishedRow:
    figures = (_figure(_LOCATING, locating), _figure(_BUILDING, building))
    return PublishedRow(name=name, decider=decider, figures=figures)


def _by_kind(name: str, *percents: float, model: str | None = None) -> PublishedRow:
    columns = [(s, kind) for s in (_LOCATING, _BUILDING) for kind in ("relational", "graph")]
    pairs = zip(columns, percents, strict=True)
    figures = tuple(_figure(scenario, percent, kind) for (scenario, kind), percent in pairs)
    return PublishedRow(name=name, decider=_DECIDERS[name], model=model, figures=figures)


def _rows(deciders: Iterable[str], *figures: PublishedFigure) -> tuple[PublishedRow, ...]:
    return tuple(
        PublishedRow(name=name, decider=_DECIDERS[name], figures=figures) for name in deciders
    )


_TABLE_4 = PublishedTable(
    name="Table 4",
    title="Accuracy, as the mean over relational and graph databases",
    measure="mean_accuracy",
    rows=(
        _pair("SingleRAG-LM", "singlerag", 30.5, 2.5),
        _pair("IterRAG-LM", "iterrag", 48.5, 37.6),
        _pair("PlanRAG-LM", "planrag", 64.3, 45.0),
        _pair("PlanRAG-LM w/o RP", "planrag-no-replan", 53.5, 44.1),
    ),
)
_TABLE_5 = PublishedTable(
    name="Table 5",
    title="Accuracy by kind of database",
    measure="accuracy",
    rows=(
        _by_kind("SingleRAG-LM", 25.5, 35.5, 2.0, 3.0),
        _by_kind("IterRAG-LM", 37.5, 59.5, 34.7, 40.6),
        _by_kind("PlanRAG-LM", 64.5, 64.0, 40.6, 49.5),
    ),
)
_TABLE_6 = PublishedTable(
    name="Table 6",
    title="Missed data analysis",
    measure="missed",
    rows=(
        _pair("IterRAG-LM", "iterrag", 3.3, 33.2),
        _pair("PlanRAG-LM", "planrag", 1.3, 21.8),
    ),
)
_REPLANNED = {
    _LOCATING: (
        *(("0", 376, 66.8), ("1", 0, None), ("2", 12, 41.7), ("3", 5, 20.0), ("4", 7, 0.0)),
        ("total", 400, 64.3),
    ),
    _BUILDING: (
        *(("0", 125, 57.6), ("1", 0, None), ("2", 24, 41.7), ("3", 23, 21.7), ("4", 30, 13.3)),
        ("total", 202, 45.0),
    ),
}
_TABLE_7 = PublishedTable(
    name="Table 7",
    title="Accuracy by number of re-plannings",
    measure="replannings",
    note=(
        'The paper calls its last row "more than 4"; its rows add up to all questions, so that '
        "is read as 4 and more."
    ),
    rows=_rows(
        ["PlanRAG-LM"],
        *(
            _figure(scenario, percent, number, count)
            for scenario, rows in _REPLANNED.items()
            for number, count, percent in rows
        ),
    ),
)
_TABLE_10 = PublishedTable(
    name="Table 10",
    title="Accuracy by structure of the prompt",
    measure="mean_accuracy",
    note="Measured on a tenth of the questions, drawn at random for each database.",
    rows=(
        _pair("Thou-Act-Obs", "iterrag", 37.5, 30.0),
        _pair("Plan-Thou-Act-Obs-Replan", "planrag", 57.5, 50.0),
        _pair("Plan-Act-Obs-Replan", "planrag-no-thought", 40.0, 40.0),
        _pair("Thou-Plan-Act-Obs-Replan", "planrag-thought-first", 27.5, 30.0),
    ),
)
_TABLE_11 = PublishedTable(
    name="Table 11",
    title="Accuracy with other models",
    measure="accuracy",
    rows=(
        _by_kind("IterRAG-LM", 8.0, 2.5, 22.8, 3.96, model="GPT-3.5"),
        _by_kind("PlanRAG-LM", 0.0, 4.0, 1.0, 1.0, model="GPT-3.5"),
        *(
            _by_kind(name, 0.0, 0.0, 0.0, 0.0, model=model)
            for model in ("Llama 2 (70B)", "Llama 2 (13B)", "Phi-2")
            for name in ("IterRAG-LM", "PlanRAG-LM")
        ),
    ),
)
_TABLE_12 = PublishedTable(
    name="Table 12",
    title="Kinds of re-planning, as shares of the re-planned questions",
    measure="kinds",
    note=(
        "The paper prints this table as a picture. Its text says that Add look-up is the most "
        "frequent kind in Locating, and Divide to sub-steps in Building."
    ),
    rows=_rows(["PlanRAG-LM"]),
)
_FIGURE_5 = PublishedTable(
    name="Figure 5",
    title="Accuracy on single-retrieval (SR) and multiple-retrieval (MR) questions",
    measure="question_types",
    drawn=True,
    note="The paper draws the accuracies and prints only how many questions there are of each.",
    rows=_rows(
        ["IterRAG-LM", "PlanRAG-LM"],
        PublishedFigure(scenario="", column="SR", of=84),
        PublishedFigure(scenario="", column="MR", of=518),
    ),
)
_FIGURE_6 = PublishedTable(
    name="Figure 6",
    title="Failures by class, as shares of all questions",
    measure="failures",
    drawn=True,
    note="The paper draws the classes; the shares of all failures are what its Table 4 leaves.",
    rows=tuple(
        PublishedRow(
            name=name,
            decider=_DECIDERS[name],
            figures=tuple(
                _figure(scenario, failed if column == "failed" else None, column)
                for scenario, failed in ((_LOCATING, locating), (_BUILDING, building))
                for column in ("CAN", "MIS", "DEEP", "QUR", "OTH", "failed")
            ),
        )
        for name, locating, building in (("IterRAG-LM", 51.5, 62.4), ("PlanRAG-LM", 35.7, 55.0))
    ),
)

PAPER = Publication(
    name="planrag",
    citation=(
        "Myeonghwa Lee, Seonho An and Min-Soo Kim (2024): PlanRAG: A Plan-then-Retrieval Augmented "
        "Generation for Generative Large Language Models as Decision Makers. NAACL."
    ),
    setting="GPT-4 at temperature 0, MySQL and Neo4j, 200 Locating and 101 Building questions.",
    tables=(
        _TABLE_4,
        _TABLE_5,
        _TABLE_6,
        _TABLE_7,
        _TABLE_10,
        _TABLE_11,
        _TABLE_12,
        _FIGURE_5,
        _FIGURE_6,
    ),
)
