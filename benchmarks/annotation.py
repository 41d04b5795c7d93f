"""How long ground truth takes: the release's questions, the plain reference, and growing worlds.

Run ``python benchmarks/annotation.py RELEASE [--sizes 1000 1000000] [--plot FILE]`` from the
checkout. The release part needs nothing else; `--sizes` annotates one country on worlds built
directly with NumPy, 10 flows a node, each in a process of its own so that peak memory is its own.
"""

from __future__ import annotations

import argparse
import math
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from dqa import plugins
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Situation, Table
from dqa.evaluation.annotate import annotate
from dqa.loaders.release import read_release
from tests.simulators import reference

FLOWS_A_NODE = 10


class Point(NamedTuple):
    """One size of world: nodes, seconds for one country, peak memory in MiB."""

    nodes: int
    seconds: float
    mebibytes: float


def milliseconds(work: Callable[[], object], repeats: int) -> float:
    """Return the median time of `repeats` runs."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return 1000.0 * median(times)


def unseen(questions: QuestionSet) -> QuestionSet:
    """Return the set with copies of its situations, of which nothing is remembered yet."""
    twins = {id(s): s.replace() for s in questions.situations.values()}
    situations = {name: twins[id(s)] for name, s in questions.situations.items()}
    return QuestionSet(questions.name, questions.questions, situations)


def cold_milliseconds(questions: QuestionSet, repeats: int) -> float:
    """Return the median time of annotating situations of which nothing is remembered."""
    fresh = iter([unseen(questions) for _ in range(repeats)])
    return milliseconds(lambda: annotate(next(fresh), "released"), repeats)


def plain_locating(situation: Situation, question: Question) -> str:
    """Return the best node by the plain reference."""
    country, home = question.target["country"], question.target["home"]
    names: list[str] = situation["trade_node"]["trade_node"].tolist()
    candidates = [name for name in names if name != home]
    return max(candidates, key=lambda c: reference.profit(situation, country, home, c, "released"))


def plain_building(situation: Situation, goods: Iterable[str]) -> list[int]:
    """Return the best building for each goods by the plain reference."""
    prices = {
        key: reference.building(situation, key, "released")
        for key in situation["building"]["id"].tolist()
    }
    return [min(prices, key=lambda key, name=name: prices[key][name]) for name in goods]  # type: ignore[misc]


def release(folder: Path, repeats: int) -> None:
    """Print what the release's questions take, and how that compares with the reference."""
    questions = read_release(folder)
    annotations = annotate(questions, "released")
    agreed = sum(bool(annotation.agrees) for annotation in annotations)
    print(f"{agreed} of {len(annotations)} official answers agree")
    print(f"annotation only         {cold_milliseconds(questions, repeats):10.1f} ms")
    both = milliseconds(lambda: annotate(read_release(folder), "released"), repeats)
    print(f"from files to answers   {both:10.1f} ms")
    for scenario in ("locating", "building"):
        compare(questions.select((scenario,)), repeats)


def compare(questions: QuestionSet, repeats: int) -> None:
    """Print times a Locating question, or a Building database, beside the plain reference."""
    groups: dict[int, list[Question]] = {}
    for question in questions.questions:
        groups.setdefault(id(questions.situation_of(question)), []).append(question)
    fast_total = slow_total = 0.0
    ratios = []
    for group in groups.values():
        situation = questions.situation_of(group[0])
        shared = QuestionSet("shared", tuple(group), {q.situation: situation for q in group})
        fast = cold_milliseconds(shared, repeats)
        slow = plain_milliseconds(situation, group)
        ratios.append(slow / fast)
        fast_total += fast
        slow_total += slow
    scenario = questions.questions[0].scenario
    print(
        f"{scenario}: {len(questions.questions)} questions on {len(groups)} databases: "
        f"{fast_total:.1f} ms, plain {slow_total / 1000:.1f} s"
    )
    print(
        f"  {slow_total / fast_total:.0f} times as fast together; by database "
        f"{min(ratios):.0f} to {max(ratios):.0f} times, median {median(ratios):.0f}"
    )


def plain_milliseconds(situation: Situation, questions: Sequence[Question]) -> float:
    """Return what the plain reference takes for the questions of one situation.

    A Locating question is timed once for all, as each simulates every node anew; a Building run
    gives all prices, so one run a building serves every question.
    """
    if questions[0].scenario == "locating":
        return len(questions) * milliseconds(lambda: plain_locating(situation, questions[0]), 1)
    goods = [question.target["goods"] for question in questions]
    return milliseconds(lambda: plain_building(situation, goods), 1)


def large_world(nodes: int, seed: int = 0) -> tuple[Situation, Question]:
    """Make a world of `nodes` nodes, 10 flows a node, 200 countries with merchants about."""
    rng = np.random.default_rng(seed)
    names = np.array([f"node{i}" for i in range(nodes)], dtype=object)
    countries = np.array([f"C{i}" for i in range(200)], dtype=object)
    ahead = rng.geometric(min(0.5, 400.0 / nodes), (nodes, FLOWS_A_NODE)).cumsum(axis=1)
    sources, column = np.nonzero(np.arange(nodes)[:, None] + ahead < nodes)
    dests = sources + ahead[sources, column]
    order = rng.permutation(len(sources))
    homes = rng.integers(nodes // 2, nodes, len(countries))
    homes[0] = nodes - 1
    at = np.repeat(np.arange(nodes), 3)
    owner = rng.integers(0, len(countries), (nodes, 3))
    owner[:, 1:] = (owner[:, :1] + rng.integers(1, 99, (nodes, 2)) * [1, 2]) % len(countries)
    owner = owner.ravel()
    keep = np.unique(at * len(countries) + owner, return_index=True)[1]
    at, owner = at[keep], owner[keep]
    own = np.array([nodes - 1]), np.array([0])
    missing = not bool(((at == nodes - 1) & (owner == 0)).any())
    at, owner = (np.concatenate((a, b[:missing])) for a, b in zip((at, owner), own, strict=True))
    base = rng.uniform(1.0, 30.0, len(at))
    zeros = np.zeros(nodes)
    columns = {
        "country": {
            "country_name": countries,
            "home_node": names[homes],
            "development": rng.uniform(5.0, 300.0, len(countries)),
        },
        "trade_node": {
            "trade_node": names,
            "local_value": rng.uniform(0.1, 10.0, nodes),
            "is_inland": rng.random(nodes) < 0.3,
            "total_power": zeros,
            "outgoing": zeros,
            "ingoing": zeros,
        },
        "flow": {
            "source": names[sources[order]],
            "dest": names[dests[order]],
            "flow": np.zeros(len(order)),
        },
        "node_country": {
            "trade_node": names[at],
            "country_name": countries[owner],
            "is_home": homes[owner] == at,
            "has_merchant": (rng.random(len(at)) < 0.02) & (owner > 0),
            "base_trading_power": base,
            "calculated_trading_power": base,
        },
    }
    schema = plugins.scenario("locating").schema
    tables = {t.name: Table(t, columns[t.name]) for t in schema.tables}
    target = {"country": "C0", "home": str(names[nodes - 1])}
    return Situation(schema, "large", tables), Question("locating", "1", "", "", "large", target)


def measure(nodes: int) -> None:
    """Annotate one country of a large world, and print the point it makes."""
    situation, question = large_world(nodes)
    start = perf_counter()
    plugins.simulator("locating").outcomes(situation, [question], "released")
    seconds = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    print(nodes, seconds, peak, len(situation["flow"]), len(situation["node_country"]))


def scaling(sizes: Sequence[int]) -> list[Point]:
    """Print time and peak memory against size; each size runs in a process of its own."""
    print(f"{'nodes':>10}{'flows':>12}{'presence':>12}{'seconds':>10}{'us/flow':>10}{'MiB':>8}")
    points = []
    for nodes in sizes:
        command = [sys.executable, __file__, "--measure", str(nodes)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()  # noqa: S603
        point = Point(nodes, float(output[1]), float(output[2]))
        flows, presence = int(output[3]), int(output[4])
        each = 1e6 * point.seconds / flows
        print(
            f"{nodes:>10}{flows:>12}{presence:>12}{point.seconds:>10.3f}{each:>10.2f}"
            f"{point.mebibytes:>8.0f}"
        )
        points.append(point)
    return points


def plot(points: Sequence[Point], file: Path) -> None:
    """Write time and memory against size as an SVG picture with logarithmic axes."""
    panels = [
        panel("seconds", [(p.nodes, p.seconds) for p in points], 60),
        panel("peak MiB", [(p.nodes, p.mebibytes) for p in points], 440),
    ]
    file.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="800" height="340" '
        'font-family="sans-serif" font-size="12">\n<rect width="800" height="340" fill="white"/>\n'
        + "\n".join(panels)
        + "\n</svg>\n",
        "utf-8",
    )


def panel(title: str, points: Sequence[tuple[float, float]], left: int) -> str:
    """Return one diagram, 300 by 240, with a tick at every power of ten."""
    width, height, top = 300, 240, 40
    spans = []
    for values in zip(*points, strict=True):
        logs = [math.log10(value) for value in values]
        spans.append((math.floor(min(logs)), max(math.ceil(max(logs)), math.floor(min(logs)) + 1)))
    (x0, x1), (y0, y1) = spans

    def place(x: float, y: float) -> tuple[float, float]:
        return left + width * (x - x0) / (x1 - x0), top + height * (y1 - y) / (y1 - y0)

    parts = [f'<text x="{left}" y="{top - 14}">{title} against nodes</text>']
    for x in range(x0, x1 + 1):
        at, _ = place(x, y0)
        parts.append(f'<path d="M{at:.1f} {top}v{height}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{at:.1f}" y="{top + height + 18}" text-anchor="middle">1e{x}</text>'
        )
    for y in range(y0, y1 + 1):
        _, at = place(x0, y)
        parts.append(f'<path d="M{left} {at:.1f}h{width}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">1e{y}</text>')
    spots = [place(math.log10(x), math.log10(y)) for x, y in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    parts.append(f'<polyline points="{line}" fill="none" stroke="#1f6feb" stroke-width="2"/>')
    parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#1f6feb"/>' for x, y in spots]
    return "\n".join(parts)


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("release", type=Path, nargs="?", help="folder of the DQA release")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--sizes", type=int, nargs="*", default=[], help="nodes of large worlds")
    parser.add_argument("--plot", type=Path, help="picture of time and memory against size, SVG")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        measure(options.measure)
        return
    if options.release is not None:
        release(options.release, options.repeats)
    if options.sizes:
        points = scaling(options.sizes)
        if options.plot is not None:
            plot(points, options.plot)


if __name__ == "__main__":
    main()
