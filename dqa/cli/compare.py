"""``dqa compare``: deciders of one run or several, on the questions that they share."""

from __future__ import annotations

from typing import Annotated

from dqa.cli import options
from dqa.cli.help import MODELS, OUTPUT, QUESTIONS
from dqa.cli.options import option
from dqa.cli.output import echo_json, echo_tables


def compare(  # noqa: PLR0913  (one parameter per option)
    *,
    runs: options.Runs,
    deciders: Annotated[str | None, option("--deciders NAMES", MODELS)] = None,
    against: Annotated[str | None, option("--against NAME", MODELS)] = None,
    all_pairs: Annotated[bool, option("--all-pairs", MODELS)] = False,
    scenario: options.OfScenario = None,
    shared: Annotated[bool, option("--shared", QUESTIONS)] = False,
    times: Annotated[bool, option("--times", OUTPUT)] = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare deciders, of one run or several, on the questions that they share.

    Differences are paired: question by question, databases apart, epochs averaged. Intervals and
    p-values by situations allow for questions about the same data; docs/evaluation.md explains
    which figure to use. A decision that could not be judged is left out of its pairs, and counted.

    Parameters
    ----------
    deciders
        Only these deciders, separated by commas.
    against
        Compare each other decider with this one, not all pairs.
    all_pairs
        Compare all pairs; without it, several runs that share deciders are compared decider by
        decider.
    shared
        Compare on the questions that all were asked, if they differ.
    times
        Also print how long decisions took; reads all traces.
    """
    from dqa.api.comparing import compare as compare_runs

    found = compare_runs(
        *runs,
        deciders=options.names_in("--deciders", deciders),
        against=against,
        scenario=scenario,
        only_shared=shared,
        times=times,
        all_pairs=all_pairs,
    )
    if as_json:
        echo_json(found.to_json())
        return
    from dqa.report.compare_tables import notes, tables

    echo_tables(tables(found), notes(found))
