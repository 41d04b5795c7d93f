"""How often an imperfect analyst is right with past decisions as memory, against without.

Run ``python -m benchmarks.ldm2_queries`` (``--scenario building --questions 100 --seeds 1 2 3``).
An analyst that remembers nothing decides questions of the first seed; its right decisions form the
memory. It is refined by exploring questions of the second seed, and both memories decide those of
the third. The analyst is a script: it shows what the memory adds, not what a language model is
worth. The table has Wilson's intervals, the lines below it the paired differences. Exit code 1
where a memory does not raise the accuracy, or a refined one not beyond that.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import dqa
from dqa.api.runs import Run
from dqa.evaluation.results import Outcome
from dqa.evaluation.statistics.clusters import wilson
from dqa.models.scripted import scripted_model
from dqa_ldm2.memory.opening import open_memory
from dqa_ldm2.memory.rules import RuleIndexer
from dqa_ldm2.queries.building import build_from_runs, refine_on_questions
from dqa_ldm2.refining.report import RefinementReport

NEEDS = ()
BARE, INITIAL, REFINED = "ldm2-queries-bare", "ldm2-queries", "ldm2-queries-refined"
MODEL = "scripted:analyst"


@dataclass(frozen=True)
class Measured:
    """A run of the three deciders on the same questions, and what refining did before."""

    run: Run
    refined: RefinementReport

    def right(self, decider: str) -> int:
        """Return how many questions a decider got right."""
        return sum(r.outcome is Outcome.CORRECT for r in self.run.results if r.decider == decider)


def measure(scenario: str, count: int, seeds: Sequence[int], folder: Path) -> Measured:
    """Build a memory, refine it, and evaluate both, each on questions of its own."""
    past, explored, asked = (dqa.generate([scenario], count=count, seed=seed) for seed in seeds)
    settings = {
        f"{INITIAL}.memory": str(folder / "initial.db"),
        f"{REFINED}.memory": str(folder / "refined.db"),
    }
    earlier = dqa.evaluate(past, [BARE], model=MODEL, databases=["sqlite"], out=folder / "past")
    with open_memory(folder / "initial.db", create=True) as memory:
        report = build_from_runs(memory, [earlier], RuleIndexer(), questions=past)
    print("\n".join(report.lines()))
    shutil.copy(folder / "initial.db", folder / "refined.db")
    with open_memory(folder / "refined.db") as memory:
        refined = refine_on_questions(memory, explored, scripted_model("analyst"), model_name=MODEL)
    run = dqa.evaluate(
        asked,
        [BARE, INITIAL, REFINED],
        model=MODEL,
        databases=["sqlite"],
        settings=settings,
        out=folder / "asked",
    )
    return Measured(run, refined)


def tell(measured: Measured) -> None:
    """Print the table, and the paired differences."""
    refined, run = measured.refined, measured.run
    print(
        f"Refined on {len(refined.goals)} questions: {refined.improved} ended better, "
        f"{refined.added} tuples added, {refined.calls.exploring} replies on exploring"
    )
    asked = len(run.results) // 3
    for decider in (BARE, INITIAL, REFINED):
        right = measured.right(decider)
        low, high = wilson(right, asked) or (0.0, 1.0)
        share = f"{right / asked:6.1%} [{low:.1%}, {high:.1%}]"
        print(f"{decider:22} {right:4} of {asked}  {share}")
    for best in run.shortcuts[:1]:
        top = max(run.shortcuts, key=lambda one: one.right)
        print(f"{'best heuristic':22} {top.right:4} of {best.questions}  ({top.name})")
    for first, second in ((INITIAL, BARE), (REFINED, BARE), (REFINED, INITIAL)):
        pair = dqa.compare(run, deciders=[first, second], against=second).pairs[0]
        found, sign = pair.accuracy, pair.by_questions
        low, high = pair.newcombe or (float("nan"), float("nan"))
        print(
            f"{first} above {second}: {found.value:+.1%} [{low:.1%}, {high:.1%}] by questions, "
            f"McNemar p = {sign.p_value:.2g}; by {found.clusters} situations "
            f"[{found.low or 0.0:.1%}, {found.high or 0.0:.1%}]"
        )


def main() -> int:
    """Measure and print; see this module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", default="building")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--seeds", type=int, nargs=3, default=[1, 2, 3])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(given.scenario, given.questions, given.seeds, Path(folder))
        tell(measured)
    bare, initial, refined = map(measured.right, (BARE, INITIAL, REFINED))
    return int(not bare < initial < refined)


if __name__ == "__main__":
    sys.exit(main())
