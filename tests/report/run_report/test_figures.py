"""Every figure of a report, worked out again from the rows of `dqa export` with plain SQL."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from statistics import stdev

import numpy as np
import pytest
from scipy import stats

import dqa
from dqa.evaluation.results import Outcome
from tests.stored import change_record, record_of

JUDGED = "outcome NOT IN ('infrastructure', 'budget', 'stopped', 'crashed', 'unlabelled')"
CLUSTER = "scenario || '/' || situation"


@pytest.fixture(scope="session", params=["agents", "drawn"])
def run(request: pytest.FixtureRequest, run_folder: Path, drawn_run: dqa.Run) -> dqa.Run:
    """A run of agents, and one with epochs, prices and failures."""
    return drawn_run if request.param == "drawn" else dqa.read_run(run_folder)


@pytest.fixture(scope="session")
def report(run: dqa.Run) -> dqa.Report:
    """The figures of the run."""
    return dqa.read_report(run)


@pytest.fixture(scope="session")
def rows(run: dqa.Run, tmp_path_factory: pytest.TempPathFactory) -> sqlite3.Connection:
    """What `dqa export` writes of the run, as a table."""
    file = dqa.export_run(run, tmp_path_factory.mktemp("exported") / "rows.jsonl")
    found = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    nested = {"ties", "tags", "shortcuts", "official_metrics"}
    names = [name for name in found[0] if name not in nested]
    table = sqlite3.connect(":memory:")
    table.execute(f"CREATE TABLE decision ({', '.join(names)})")
    marks = ", ".join("?" * len(names))
    table.executemany(
        f"INSERT INTO decision VALUES ({marks})", [[line[name] for name in names] for line in found]
    )
    return table


def error_of_mean(lines: Sequence[tuple[str, float]]) -> tuple[float, float, float]:
    """Return a mean, its CR2 variance and degrees of freedom, by matrices (Bell & McCaffrey)."""
    values = np.array([value for _, value in lines], dtype=float)
    clusters = np.array([cluster for cluster, _ in lines])
    count = len(values)
    residual_maker = np.eye(count) - np.ones((count, count)) / count
    columns, sums = [], []
    for cluster in dict.fromkeys(clusters):
        members = clusters == cluster
        eigen, vectors = np.linalg.eigh(residual_maker[np.ix_(members, members)])
        adjusted = vectors @ np.diag(eigen**-0.5) @ vectors.T @ np.ones(members.sum()) / count
        columns.append(residual_maker[:, members] @ adjusted)
        sums.append(adjusted @ (values - values.mean())[members])
    omega = np.array(columns) @ np.array(columns).T
    freedom = np.trace(omega) ** 2 / (omega**2).sum()
    return float(values.mean()), float(np.square(sums).sum()), float(freedom)


def check_share(low: float | None, high: float | None, lines: Sequence[tuple[str, float]]) -> None:
    """Both ends solve (end - share)^2 = q^2 end (1 - end) / n, with the effective number n."""
    assert low is not None
    assert high is not None
    sizes = np.unique([cluster for cluster, _ in lines], return_counts=True)[1]
    share, size = float(np.mean([value for _, value in lines])), float(len(lines))
    quantile = stats.norm.ppf(0.975)
    if len(sizes) > 1 and share in {0.0, 1.0}:
        size = size**2 / (sizes**2).sum()
    elif len(sizes) > 1:
        _, variance, freedom = error_of_mean(lines)
        quantile = stats.t.ppf(0.975, freedom)
        size = min(size, share * (1.0 - share) / variance)
    assert 0.0 <= low <= share <= high <= 1.0
    assert low < high
    for end in (low, high):
        assert (end - share) ** 2 == pytest.approx(quantile**2 * end * (1.0 - end) / size, abs=1e-9)


def check_by_questions(
    low: float | None, high: float | None, lines: Sequence[tuple[str, float]]
) -> None:
    """Both ends solve the same with a question as one answer, however often it was asked."""
    assert low is not None
    assert high is not None
    sizes = np.unique([question for question, _ in lines], return_counts=True)[1]
    share, size = float(np.mean([value for _, value in lines])), len(lines) ** 2 / (sizes**2).sum()
    squared = stats.norm.ppf(0.975) ** 2
    for end in (low, high):
        assert (end - share) ** 2 == pytest.approx(squared * end * (1.0 - end) / size, abs=1e-9)


def test_accuracies(report: dqa.Report, rows: sqlite3.Connection) -> None:
    """By decider, scenario and database."""
    told = {
        (report.contestants[one.contestant].name, one.figures.scenario, one.figures.database): (
            one.figures.questions,
            one.figures.judged,
            one.figures.correct,
            pytest.approx(one.figures.accuracy),
            pytest.approx(one.figures.mean_steps),
            pytest.approx(one.figures.mean_relative_regret),
        )
        for one in report.accuracies
    }
    found = rows.execute(
        f"""SELECT decider, scenario, database, COUNT(*), SUM({JUDGED}), SUM(outcome = 'correct'),
            1.0 * SUM(outcome = 'correct') / SUM({JUDGED}),
            AVG(CASE WHEN {JUDGED} THEN steps END),
            AVG(CASE WHEN {JUDGED} THEN relative_regret END)
            FROM decision GROUP BY decider, scenario, database"""
    )
    assert {line[:3]: line[3:] for line in found} == told


def test_intervals_of_accuracies(report: dqa.Report, rows: sqlite3.Connection) -> None:
    """They allow for shared situations, whose number stands beside."""
    for one in report.accuracies:
        name, figures = report.contestants[one.contestant].name, one.figures
        lines = rows.execute(
            f"""SELECT {CLUSTER}, outcome = 'correct', question FROM decision
                WHERE decider = ? AND scenario = ? AND database = ? AND {JUDGED}""",
            [name, figures.scenario, figures.database],
        ).fetchall()
        low, high = figures.interval or (None, None)
        check_share(low, high, [line[:2] for line in lines])
        asked = [(question, right) for _, right, question in lines]
        check_by_questions(figures.low, figures.high, asked)
        assert figures.situations == len({line[0] for line in lines})


def test_totals_with_their_intervals(report: dqa.Report, rows: sqlite3.Connection) -> None:
    """Each contestant over everything, also in tokens, money and regret."""
    for total in report.totals:
        name = report.contestants[total.contestant].name
        found = rows.execute(
            f"""SELECT COUNT(*), SUM(outcome = 'correct'), AVG(outcome = 'correct'), AVG(steps),
                AVG(input_tokens + output_tokens), AVG(cost),
                1.0 * SUM(input_tokens + output_tokens) / NULLIF(SUM(outcome = 'correct'), 0),
                SUM(cost) / NULLIF(SUM(outcome = 'correct'), 0),
                AVG(relative_regret), AVG(rank), COUNT(DISTINCT {CLUSTER})
                FROM decision WHERE decider = ? AND {JUDGED}""",
            [name],
        ).fetchone()
        figures, regret = total.figures, total.figures.relative_regret
        assert regret is not None
        assert figures.rank is not None
        spent = figures.efficiency
        per_right = [None if one is None else one.per_right for one in (spent.tokens, spent.money)]
        told = [figures.judged, figures.correct, total.accuracy, total.steps]
        told += [total.tokens, total.cost]
        told += [None if one is None else one.value for one in per_right]
        told += [regret.value, figures.rank.value, total.situations]
        assert told == [one if one is None else pytest.approx(one) for one in found]
        lines = rows.execute(
            f"""SELECT {CLUSTER}, outcome = 'correct', relative_regret, question FROM decision
                WHERE decider = ? AND {JUDGED}""",
            [name],
        ).fetchall()
        low, high = total.interval or (None, None)
        check_share(low, high, [line[:2] for line in lines])
        asked = [(line[3], line[1]) for line in lines]
        check_by_questions(figures.low, figures.high, asked)
        regrets = [(cluster, lost) for cluster, _, lost, _ in lines if lost is not None]
        mean, variance, freedom = error_of_mean(regrets)
        reach = stats.t.ppf(0.975, freedom) * variance**0.5
        ends = regret.low, regret.high
        varies = reach > 1e-12
        wanted = (max(0.0, mean - reach), mean + reach) if varies else (None, None)
        assert ends == (pytest.approx(wanted) if varies else wanted)


MEAN = f"""(SELECT decider, question, database, {CLUSTER} AS cluster,
    AVG(outcome = 'correct') AS share, AVG(relative_regret) AS regret
    FROM decision WHERE {JUDGED} GROUP BY decider, question, database)"""
"""Each decider on a question and database, over its judged epochs."""


def test_every_two_contestants(report: dqa.Report, rows: sqlite3.Connection) -> None:
    """Differences with intervals and p-values, of which all that stand there are corrected for."""
    exact = []
    for pair in report.pairs:
        names = [report.contestants[place].name for place in (pair.first, pair.second)]
        assert [pair.figures.first, pair.figures.second] == names
        lines = rows.execute(
            f"""SELECT one.cluster, one.share - other.share, one.regret - other.regret
                FROM {MEAN} one JOIN {MEAN} other USING (question, database)
                WHERE one.decider = ? AND other.decider = ?""",
            names,
        ).fetchall()
        shares = [line[:2] for line in lines]
        regrets = [(cluster, value) for cluster, _, value in lines if value is not None]
        for told, differences, bound in (
            (pair.figures.accuracy, shares, 1.0),
            (pair.figures.relative_regret, regrets, np.inf),
        ):
            assert told is not None
            mean, variance, freedom = error_of_mean(differences)
            assert told.value == pytest.approx(mean)
            assert (told.pairs, told.clusters) == (
                len(differences),
                len({cluster for cluster, _ in differences}),
            )
            if variance > 1e-12:  # where nothing differs at all, there is none to go by
                reach = stats.t.ppf(0.975, freedom) * variance**0.5
                assert told.low == pytest.approx(max(-bound, mean - reach))
                assert told.high == pytest.approx(min(bound, mean + reach))
                p_value = 2 * stats.t.sf(abs(mean) / variance**0.5, freedom)
                assert told.p_value == pytest.approx(p_value)
        (better, worse) = rows.execute(
            f"""SELECT COALESCE(SUM(sum > 1e-9), 0), COALESCE(SUM(sum < -1e-9), 0) FROM
                (SELECT SUM(one.share - other.share) AS sum
                 FROM {MEAN} one JOIN {MEAN} other USING (question, database)
                 WHERE one.decider = ? AND other.decider = ? GROUP BY question)""",
            names,
        ).fetchone()
        signs = pair.figures.by_questions
        assert (signs.better, signs.worse) == (better, worse)
        exact.append(stats.binomtest(better, better + worse).pvalue if better + worse else 1.0)
    several = len(report.contestants)
    assert len(exact) == several * (several - 1) // 2
    largest = 0.0
    for rank, place in enumerate(np.argsort(exact, kind="stable")):
        largest = max(largest, min(1.0, (len(exact) - rank) * exact[place]))
        assert report.pairs[place].figures.holm_by_questions == pytest.approx(largest)
    (best,) = rows.execute(
        f"""SELECT decider FROM decision WHERE {JUDGED} GROUP BY decider
            ORDER BY AVG(outcome = 'correct') DESC LIMIT 1"""
    ).fetchone()
    assert report.best is not None
    assert report.contestants[report.best].name == best


def test_epochs(report: dqa.Report, rows: sqlite3.Connection) -> None:
    """What is solved once, by any and by both of two attempts, and how much attempts differ."""
    (most,) = rows.execute("SELECT MAX(epoch) FROM decision").fetchone()
    assert bool(report.epochs) == (most > 1)
    for one in report.epochs:
        group = [report.contestants[one.contestant].name, one.figures.database]
        found = rows.execute(
            f"""SELECT AVG(1.0 * correct / asked), AVG(CASE WHEN asked = 2 THEN correct > 0 END),
                AVG(CASE WHEN asked = 2 THEN correct = 2 END),
                AVG(CASE WHEN asked = 2 THEN (correct = 1) / 2.0 END), COUNT(*) FROM
                (SELECT COUNT(*) AS asked, SUM(outcome = 'correct') AS correct FROM decision
                 WHERE decider = ? AND database = ? AND {JUDGED} GROUP BY question)""",
            group,
        ).fetchone()
        once, twice = one.figures.pass_rates
        told = (once.at_k.value, twice.at_k.value, twice.all_k.value, one.figures.within)
        assert (*told, one.figures.questions) == pytest.approx(found)
        shares = rows.execute(
            f"""SELECT AVG(outcome = 'correct') FROM decision
                WHERE decider = ? AND database = ? AND {JUDGED} GROUP BY epoch""",
            group,
        ).fetchall()
        assert one.figures.spread == pytest.approx(stdev(share for (share,) in shares))


def test_front(report: dqa.Report, rows: sqlite3.Connection) -> None:
    """By money; of scripted models, which count no tokens, by replies."""
    (money,) = rows.execute("SELECT SUM(cost) > 0 FROM decision").fetchone()
    found = rows.execute(
        f"""WITH total AS (SELECT decider, AVG(outcome = 'correct') AS share,
                           AVG({"cost" if money else "steps"}) AS spent
                           FROM decision WHERE {JUDGED} GROUP BY decider)
            SELECT decider FROM total AS one WHERE NOT EXISTS (
              SELECT 1 FROM total AS other WHERE other.share >= one.share
              AND other.spent <= one.spent
              AND (other.share > one.share OR other.spent < one.spent))"""
    )
    told = {report.contestants[one.contestant].name for one in report.totals if one.pareto}
    assert {name for (name,) in found} == told


REGRET = """CASE WHEN choice IS NULL THEN 'no choice' WHEN regret = 0 THEN 'none'
    WHEN relative_regret <= 0.01 THEN 'up to 1 %' WHEN relative_regret <= 0.1 THEN 'up to 10 %'
    WHEN relative_regret <= 0.5 THEN 'up to 50 %' WHEN relative_regret <= 1 THEN 'up to 100 %'
    ELSE 'more: worse than nothing' END"""


@pytest.mark.parametrize(
    ("chart", "part", "where"),
    [
        ("failures", "outcome", "1"),
        ("regret", REGRET, f"{JUDGED} AND best_value IS NOT NULL"),
        (
            "replanning",
            "CASE WHEN plans > 4 THEN '4 and more' ELSE CAST(plans - 1 AS TEXT) END",
            f"{JUDGED} AND plans > 0",
        ),
    ],
)
def test_charts(
    report: dqa.Report, rows: sqlite3.Connection, chart: str, part: str, where: str
) -> None:
    """Each part of each bar, and what it is a part of."""
    shares = [one for one in report.shares if one.chart == chart and one.count]
    told = {
        (report.contestants[one.contestant].name, one.part): (one.count, one.correct)
        for one in shares
    }
    names = sorted({name for name, _ in told})
    found = rows.execute(
        f"""SELECT decider, {part} AS part, COUNT(*), SUM(outcome = 'correct') FROM decision
            WHERE {where} AND decider IN ({", ".join("?" * len(names))}) GROUP BY decider, part""",
        names,
    )
    assert shares
    assert {line[:2]: line[2:] for line in found} == told
    for one in shares:
        name = report.contestants[one.contestant].name
        (of,) = rows.execute(
            f"SELECT COUNT(*) FROM decision WHERE {where} AND decider = ?", [name]
        ).fetchone()
        assert one.of == of


def test_questions_and_their_decisions(report: dqa.Report, rows: sqlite3.Connection) -> None:
    """Each row of the list is what was decided."""
    told = {
        (one.key, report.contestants[made.contestant].name, made.database, made.epoch): (
            made.outcome.value,
            made.choice,
            made.regret,
            made.rank,
            made.steps,
            made.statements,
            made.plans,
            made.tokens,
        )
        for one in report.questions
        for made in one.decisions
    }
    found = rows.execute(
        """SELECT question, decider, database, epoch, outcome, choice, regret, rank, steps,
           statements, plans, input_tokens + output_tokens FROM decision"""
    )
    assert {line[:4]: line[4:] for line in found} == told
    by_question = rows.execute(
        f"""SELECT question, SUM({JUDGED}), SUM(outcome = 'correct') FROM decision
            GROUP BY question"""
    )
    assert {(one.key, one.judged, one.correct) for one in report.questions} == set(by_question)


def test_the_same_decider_of_two_runs_is_two_contestants(run_folder: Path, tmp_path: Path) -> None:
    """They are told apart by their runs, and share the questions."""
    again = tmp_path / "second"
    again.mkdir()
    for file in run_folder.iterdir():
        (again / file.name).write_bytes(file.read_bytes())
    one, both = dqa.read_report(run_folder), dqa.read_report(run_folder, again)
    assert [found.name for found in both.contestants] == [
        f"{found.decider} ({name})" for name in ("first", "second") for found in one.contestants
    ]
    assert len(both.questions) == len(one.questions)
    assert both.totals[0].figures == both.totals[len(one.totals)].figures == one.totals[0].figures


def test_a_run_without_decisions_and_a_file_that_is_there_are_refused(
    run_folder: Path, tmp_path: Path
) -> None:
    """Nothing is overwritten, and no empty page is made."""
    there = tmp_path / "there.html"
    there.touch()
    with pytest.raises(dqa.UsageError, match="exists already"):
        dqa.write_report(run_folder, there)
    with pytest.raises(dqa.UsageError, match="at least one run"):
        dqa.write_report([], tmp_path / "new.html")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(dqa.UsageError, match="contains no run"):
        dqa.write_report(empty, tmp_path / "new.html")


def test_a_run_whose_questions_are_gone_says_why_outcomes_are_missing(
    run_folder: Path, tmp_path: Path
) -> None:
    """Data that has changed since is never shown as what was asked."""
    gone = tmp_path / "gone"
    gone.mkdir()
    for file in run_folder.iterdir():
        (gone / file.name).write_bytes(file.read_bytes())
    change_record(gone, record_of(gone) | {"content_hash": "0" * 64})
    report = dqa.write_report(gone, tmp_path / "page.html")
    assert report.outcomes is not None
    assert "are others than" in report.outcomes


def test_a_question_has_the_answer_of_a_judged_decision(drawn_run: dqa.Run) -> None:
    """Also if the first decision on it ended in a bug and has none."""
    judged = next(one for one in drawn_run.results if one.outcome.judged)
    nothing = {"outcome": Outcome.CRASHED, "choice": None, "official": None, "ties": ()}
    crashed = judged.changed(decider="broken", best_value=None, goal=None, **nothing)
    (row,) = dqa.read_report(dqa.Run((crashed, judged))).questions
    assert (row.official, row.ties, row.tied, row.goal) == ("a", ("a",), 1, "maximise")


def test_questions_of_two_runs_are_the_same_by_their_content(drawn_run: dqa.Run) -> None:
    """Whatever their names; other data under one name is another question."""
    results = [one.changed(content=f"{one.question}.rules.all") for one in drawn_run.results]
    again = [one.changed(question=f"{one.question}-again") for one in results]
    report = dqa.read_report(dqa.Run(tuple(results)), dqa.Run(tuple(again)))
    assert len(report.questions) == 40
    assert {len(row.decisions) for row in report.questions} == {24}
    assert len(report.pairs) == 15
    other = [one.changed(situation="other data") for one in results]
    report = dqa.read_report(dqa.Run(tuple(results)), dqa.Run(tuple(other)))
    assert len(report.questions) == 80
    runs = [
        {report.contestants[place].run for place in (pair.first, pair.second)}
        for pair in report.pairs
    ]
    assert sorted(map(tuple, runs)) == [(0,)] * 3 + [(1,)] * 3
