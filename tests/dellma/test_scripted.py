"""The scripted analyst at DeLLMa's steps, and what its decisions are worth."""

from __future__ import annotations

from dqa import plugins
from dqa.core.question import Question
from dqa.deciders.base import Settings
from dqa.loaders.generator import generate
from dqa.models.scripted import scripted_model
from tests.dellma.reports import ReportReader
from tests.dellma.talking import decide, noted, world


def test_a_long_context_is_summarised_and_still_decides() -> None:
    """The figures are read from the summary, and the trace says that it is one."""
    question, database = world("stocks")
    rows = (
        "SELECT symbol, SUBSTR(date, 1, 7) AS m, AVG(close_price) AS mean_price FROM quote "
        "GROUP BY 1, 2"
    )
    long = Question(
        *("custom", "1", question.text, question.rules),
        candidates=question.candidates,
        context_queries=(rows,) * 3,
    )
    decision = decide("zero-shot", scripted_model("analyst"), long, database, {"context": 1_000})
    database.close()
    (context,) = noted(decision.trace, "context")
    assert context["summarised"] is True
    assert len(context["text"]) < 1_300
    assert decision.choice in (question.candidates or ())
    assert decision.steps > 1


def test_dellma_beats_one_prompt_where_the_true_utilities_are_known() -> None:
    """By a wide margin, with a model that reads how likely each value is from the report."""
    worlds = generate(("agriculture",), 12, 7)
    right = dict.fromkeys(("dellma-pairs", "zero-shot"), 0)
    for question in worlds.questions:
        database = plugins.backend("sqlite").load(worlds.situation_of(question))
        true = dict(
            zip(question.candidates or (), worlds.truth_of(question).outcomes or (), strict=True)
        )
        for name in right:
            settings = Settings(options={"dellma.samples": "16"} if "dellma" in name else {})
            decision = plugins.decider(name)(ReportReader(), settings)
            choice = decision.decide(question, database).choice
            assert choice is not None
            right[name] += true[choice] == max(true.values())
        database.close()
    assert right["dellma-pairs"] >= right["zero-shot"] + 3
    assert right["dellma-pairs"] >= 8
