"""Question sets from a seed: counts, sizes, trustworthy answers, difficulty."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import product

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

from dqa import plugins
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa.loaders.generator import (
    GENERATOR_VERSION,
    Difficulty,
    SimulatedGenerator,
    Size,
    generate,
    generate_like_release,
)
from dqa_simulators.building.generator import BuildingSize, build_building
from dqa_simulators.locating.generator import LocatingSize, build_locating

SCENARIOS = ("locating", "building")


@pytest.fixture(scope="module")
def small() -> QuestionSet:
    """A few questions of each scenario."""
    return generate(count=24, seed=5)


@pytest.fixture(scope="module")
def like_release() -> QuestionSet:
    """The set with the official counts."""
    return generate_like_release(seed=11)


def outcome(question_set: QuestionSet, question: Question, rules: str = "paper") -> Outcomes:
    """Simulate one question."""
    situation = question_set.situation_of(question)
    return plugins.simulator(question.scenario).outcomes(situation, [question], rules)[0]


def steps_to_target(situation: Situation, question: Question) -> NDArray[np.float64]:
    """Count the steps as the scenario's generator does."""
    generator = plugins.generator(question.scenario)
    assert isinstance(generator, SimulatedGenerator)
    return generator.steps(situation, question)


def rows(situation: Situation) -> dict[str, int]:
    """Count the rows of each table."""
    return {name: len(table) for name, table in situation.tables.items()}


def contents(question_set: QuestionSet) -> list[object]:
    """Return every question with its truth and the hash of its world."""
    hashes = {name: s.content_hash for name, s in question_set.situations.items()}
    return [(q, truth, hashes[q.situation]) for q, truth in question_set.labelled]


def of(question_set: QuestionSet, scenario: str) -> list[tuple[Question, Situation]]:
    """Pair the questions of a scenario with their worlds."""
    return [
        (question, question_set.situation_of(question))
        for question in question_set.questions
        if question.scenario == scenario
    ]


def totals(
    index: dict[str, int], names: NDArray[np.object_], amounts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sum amounts by name."""
    at = [index[name] for name in names.tolist()]
    return np.bincount(at, amounts, len(index)).astype(np.float64)


# --- counts and sizes ---


def test_each_scenario_gets_as_many_questions_as_asked_for(small: QuestionSet) -> None:
    """24 questions of each scenario, numbered from 1, about 20 or 4 to a database."""
    assert [q.id for q, _ in of(small, "locating")] == [str(i) for i in range(1, 25)]
    assert [q.id for q, _ in of(small, "building")] == [str(i) for i in range(1, 25)]
    assert len({q.situation for q, _ in of(small, "locating")}) == 2
    assert len({q.situation for q, _ in of(small, "building")}) >= 6


def test_like_release_has_the_official_counts(like_release: QuestionSet) -> None:
    """200 and 101 questions on 7 and 37 databases."""
    for scenario, questions, databases in (("locating", 200, 7), ("building", 101, 37)):
        asked = of(like_release, scenario)
        assert len(asked) == questions
        assert len({q.situation for q, _ in asked}) == databases


@pytest.mark.parametrize(
    ("scenario", "total", "edges", "vertices"),
    [("locating", 2038.8, 1432.3, 606.5), ("building", 579.0, 374.7, 204.3)],
)
def test_like_release_has_the_means_of_table_3(
    like_release: QuestionSet, scenario: str, total: float, edges: float, vertices: float
) -> None:
    """Rows, edges and vertices are within 1 % of PlanRAG's Table 3, on average over questions."""
    situations = [situation for _, situation in of(like_release, scenario)]
    schema = situations[0].schema
    edge_tables = [edge.table for edge in schema.edges]
    node_tables = [node.table for node in schema.nodes]
    means = [
        np.mean([s.row_count for s in situations]),
        np.mean([sum(len(s[t]) for t in edge_tables) for s in situations]),
        np.mean([sum(len(s[t]) for t in node_tables) for s in situations]),
    ]
    np.testing.assert_allclose(means, [total, edges, vertices], rtol=0.01)


def test_default_worlds_are_of_the_sizes_of_table_3() -> None:
    """Without sizes, the mean rows of a scenario's databases are near those of Table 3."""
    generated = generate(count=40, seed=2, per_database=2)
    for scenario, total in (("locating", 2039), ("building", 579)):
        names = {q.situation for q, _ in of(generated, scenario)}
        mean = np.mean([generated.situations[name].row_count for name in sorted(names)])
        assert mean == pytest.approx(total, rel=0.12)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (
            LocatingSize(300, 700, 50, 260),
            {"country": 50, "trade_node": 300, "flow": 700, "node_country": 260},
        ),
        (
            LocatingSize(12, 60, 30, 200),
            {"country": 30, "trade_node": 12, "flow": 60, "node_country": 200},
        ),
        (
            BuildingSize(20, 60, 90, 70),
            {"goods": 20, "building": 60, "supply": 70, "demand": 90},
        ),
        (
            BuildingSize(100, 1000, 5000, 4000),
            {"goods": 100, "building": 1000, "supply": 4000, "demand": 5000},
        ),
    ],
    ids=repr,
)
def test_tables_have_exactly_the_rows_asked_for(size: Size, expected: dict[str, int]) -> None:
    """A size is met to the row, sparse or dense."""
    generated = generate((size.scenario,), count=3, sizes=[size])
    assert all(rows(situation) == expected for situation in generated.situations.values())


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: LocatingSize(nodes=2, edges=1), "at least 3 nodes"),
        (lambda: LocatingSize(nodes=80, edges=76), "between 77 and 3157 edges"),
        (lambda: LocatingSize(nodes=80, edges=3158), "between 77 and 3157 edges"),
        (lambda: LocatingSize(countries=0), "at least 1 country"),
        (lambda: LocatingSize(countries=10, node_countries=9), "between 10 .* and 800"),
        (lambda: LocatingSize(countries=10, node_countries=801), "between 10 .* and 800"),
        (lambda: BuildingSize(goods=1), "at least 2 goods"),
        (lambda: BuildingSize(buildings=1), "at least 2 buildings"),
        (lambda: BuildingSize(demands=0), "at least 1 demand"),
        (lambda: BuildingSize(goods=2, buildings=5, demands=6, supplies=5), "at most 10"),
        (lambda: Difficulty(hops=0), "hops must be"),
        (lambda: Difficulty(min_margin=0.5, max_margin=0.5), "Margins must"),
        (lambda: Difficulty(rivals=0), "rivals must be"),
        (lambda: Difficulty(distractors=-1), "distractors must not"),
        (lambda: generate(count=0), "count must be at least 1"),
        (lambda: generate(seed=-1), "seed must not be negative"),
        (lambda: generate(per_database=0), "per_database must be at least 1"),
        (lambda: generate(("locating",), sizes=[BuildingSize()]), "only locating is asked for"),
        (lambda: generate(sizes=[LocatingSize(), LocatingSize()]), "2 sizes of 'locating'"),
    ],
)
def test_requests_that_cannot_be_met_are_refused(make: Callable[[], object], problem: str) -> None:
    """The message says which number is out of range, and which range there is."""
    with pytest.raises(UsageError, match=problem):
        make()


def test_an_unknown_scenario_is_named_with_those_there_are() -> None:
    """The message lists what can be generated."""
    with pytest.raises(UnknownNameError, match=r"'poker'.*building, locating"):
        generate(("poker",))


# --- answers ---


@pytest.mark.parametrize("scenario", ["locating", "building"])
def test_answers_are_unique_under_every_rule_set(like_release: QuestionSet, scenario: str) -> None:
    """The one answer is best, no other ties with it, and the lead is no rounding error."""
    for (question, truth), rules in product(
        like_release.select((scenario,)).labelled, plugins.simulator(scenario).rule_sets
    ):
        result = outcome(like_release, question, rules)
        assert result.ties == truth.answers
        assert result.margin > 1e-6 * abs(result.value(result.answer))
        assert not result.decided_by_last_bit


def test_deciding_matters(like_release: QuestionSet) -> None:
    """At least two candidates better doing nothing, so there is something to choose."""
    for question in like_release.questions:
        result = outcome(like_release, question)
        assert result.baseline is not None
        change = result.values - result.baseline
        assert np.count_nonzero((change if result.goal == "maximise" else -change) > 0.0) >= 2


def test_no_simple_guess_finds_most_answers(like_release: QuestionSet) -> None:
    """Neither the most powerful place, nor the largest producer, is right too often."""
    right = {"locating": 0, "building": 0}
    for question, world in of(like_release, "locating"):
        table = world["node_country"]
        own = (table["country_name"] == question.target["country"]) & ~table["is_home"]
        best = int(np.argmax(np.where(own, table["base_trading_power"], -1.0)))
        right["locating"] += table["trade_node"][best] == like_release.truth_of(question).official
    for question, world in of(like_release, "building"):
        table = world["supply"]
        names = world["goods"]["goods_name"].tolist()
        own = table["goods_id"] == names.index(question.target["goods"])
        best = int(np.argmax(np.where(own, table["max_supply"], -1.0)))
        right["building"] += (
            int(table["building_id"][best]) == like_release.truth_of(question).official
        )
    assert right["locating"] < 120
    assert right["building"] < 60


# --- determinism ---


def test_a_seed_always_gives_the_same(small: QuestionSet) -> None:
    """Questions, answers and every value of every world come again; another seed differs."""
    assert contents(generate(count=24, seed=5)) == contents(small)
    assert contents(generate(count=24, seed=6)) != contents(small)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_another_scenario_or_count_changes_nothing(small: QuestionSet, scenario: str) -> None:
    """A scenario alone, or fewer of its questions, are the first ones of the whole."""
    alone = contents(generate((scenario,), count=7, seed=5))
    assert alone == contents(small.select((scenario,), limit=7))


@pytest.mark.parametrize(
    ("build", "size", "digest"),
    [
        (build_locating, LocatingSize(), "8dba03a690189380"),
        (build_building, BuildingSize(), "b81bb17abcabdfa8"),
    ],
)
def test_worlds_are_those_of_the_generator_version(
    build: Callable[..., Situation], size: Size, digest: str
) -> None:
    """Whoever changes what a seed gives has to raise GENERATOR_VERSION and this digest."""
    world = build(np.random.default_rng(2024), "pinned", size, Difficulty(distractors=2))
    rows = repr([list(table.rows()) for table in world.tables.values()])
    assert GENERATOR_VERSION == 2
    assert hashlib.sha256(rows.encode()).hexdigest()[:16] == digest


# --- difficulty ---


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("hops", [2, 3])
def test_hops_put_the_answer_further_away(scenario: str, hops: int) -> None:
    """No answer is nearer to its target than asked for."""
    generated = generate((scenario,), count=6, seed=3, difficulty=Difficulty(hops=hops))
    for question, situation in of(generated, scenario):
        steps = steps_to_target(situation, question)
        answer = generated.truth_of(question).answers[0]
        assert question.candidates is not None
        assert hops <= steps[question.candidates.index(answer)] < np.inf


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_margins_stay_within_their_bounds(scenario: str) -> None:
    """The runner-up gives away a share of the answer's gain between the two bounds."""
    bounds = Difficulty(min_margin=0.05, max_margin=0.3)
    generated = generate((scenario,), count=8, seed=3, difficulty=bounds)
    for question, _ in of(generated, scenario):
        result = outcome(generated, question)
        assert result.baseline is not None
        share = result.margin / abs(result.value(result.answer) - result.baseline)
        assert 0.05 <= share <= 0.3


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_rivals_are_candidates_better_than_nothing(scenario: str) -> None:
    """As many candidates as asked for better doing nothing."""
    generated = generate((scenario,), count=5, seed=3, difficulty=Difficulty(rivals=4))
    for question, _ in of(generated, scenario):
        result = outcome(generated, question)
        assert result.baseline is not None
        change = result.values - result.baseline
        assert np.count_nonzero((change if result.goal == "maximise" else -change) > 0.0) >= 4


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_distractors_change_no_answer(scenario: str) -> None:
    """They add candidates, keep every answer and lead nowhere."""
    plain = generate((scenario,), count=6, seed=9)
    crowded = generate((scenario,), count=6, seed=9, difficulty=Difficulty(distractors=5))
    for (question, _), (other, world) in zip(
        of(plain, scenario), of(crowded, scenario), strict=True
    ):
        assert question.candidates is not None
        assert other.candidates is not None
        assert len(other.candidates) == len(question.candidates) + 5
        assert other.target == question.target
        assert crowded.truth_of(other) == plain.truth_of(question)
        assert np.isinf(steps_to_target(world, other)[-5:]).all()


def test_a_difficulty_that_no_world_has_is_refused() -> None:
    """Instead of searching for ever, the message says what to relax."""
    with pytest.raises(UsageError, match="fewer hops"):
        generate(("locating",), 1, sizes=[LocatingSize(4, 5, 3, 6)], difficulty=Difficulty(hops=9))


# --- worlds ---


def test_trade_flows_in_no_circle(small: QuestionSet) -> None:
    """The flow graph is acyclic, has end nodes, hubs and nodes with several ways out."""
    for _, situation in of(small, "locating"):
        flow = situation["flow"]
        graph = nx.DiGraph(zip(flow["source"].tolist(), flow["dest"].tolist(), strict=True))
        assert nx.is_directed_acyclic_graph(graph)
        assert graph.number_of_edges() == len(flow)
        assert min(degree for _, degree in graph.out_degree()) == 0
        assert max(degree for _, degree in graph.in_degree()) >= 4
        assert sum(degree > 1 for _, degree in graph.out_degree()) > len(graph) / 4


def test_countries_have_one_home_and_one_merchant_at_most(small: QuestionSet) -> None:
    """Competitors have merchants away from home; whoever is asked about has none."""
    for question, situation in of(small, "locating"):
        table, country = situation["node_country"], situation["country"]
        homes = dict(
            zip(country["country_name"].tolist(), country["home_node"].tolist(), strict=True)
        )
        owner, node = table["country_name"].tolist(), table["trade_node"].tolist()
        at_home = [homes[name] == place for name, place in zip(owner, node, strict=True)]
        assert table["is_home"].tolist() == at_home
        assert sum(at_home) == len(homes)
        with_merchant = table["country_name"][table["has_merchant"]].tolist()
        assert len(set(with_merchant)) == len(with_merchant) > 10
        assert question.target["country"] not in with_merchant
        assert not (table["is_home"] & table["has_merchant"]).any()


def test_computed_trade_columns_are_one_simulation(small: QuestionSet) -> None:
    """Powers add up, what leaves a node is on its routes, and 1.05 times that arrives."""
    for _, situation in of(small, "locating"):
        node, flow, presence = (situation[t] for t in ("trade_node", "flow", "node_country"))
        index = {name: i for i, name in enumerate(node["trade_node"].tolist())}

        power = totals(index, presence["trade_node"], presence["calculated_trading_power"])
        np.testing.assert_allclose(node["total_power"], power)
        arrived = totals(index, flow["dest"], 1.05 * flow["flow"])
        np.testing.assert_allclose(node["ingoing"], arrived, atol=1e-12)
        ways_out = np.isin(node["trade_node"], flow["source"])
        left = np.where(ways_out, node["outgoing"], 0.0)
        np.testing.assert_allclose(totals(index, flow["source"], flow["flow"]), left, atol=1e-12)
        assert (node["outgoing"] <= node["local_value"] + node["ingoing"] + 1e-9).all()


def test_economies_have_chains_and_goods_made_and_needed(small: QuestionSet) -> None:
    """Some goods are both made and needed, by several buildings; chains are 3 steps and more."""
    for question, situation in of(small, "building"):
        made, needed = situation["supply"]["goods_id"], situation["demand"]["goods_id"]
        assert len(np.intersect1d(made, needed)) >= 3
        assert np.bincount(made).max() >= 3
        steps = steps_to_target(situation, question)
        assert (steps == 1).any()
    longest = [steps_to_target(s, q) for q, s in of(small, "building")]
    assert max(steps[np.isfinite(steps)].max() for steps in longest) >= 3


def test_no_building_needs_what_it_makes(small: QuestionSet) -> None:
    """Inputs and outputs of a building are different goods, each once."""
    for situation in {s for _, s in of(small, "building")}:
        pairs = [
            list(zip(table["goods_id"].tolist(), table["building_id"].tolist(), strict=True))
            for table in (situation["supply"], situation["demand"])
        ]
        assert all(len(set(listed)) == len(listed) for listed in pairs)
        assert not set(pairs[0]) & set(pairs[1])


def test_levels_agree_between_tables(small: QuestionSet) -> None:
    """The level in supply and demand is that of the building, and at least 1."""
    for situation in {s for _, s in of(small, "building")}:
        building = situation["building"]
        level = dict(zip(building["id"].tolist(), building["level"].tolist(), strict=True))
        assert min(level.values()) >= 1
        for table in (situation["supply"], situation["demand"]):
            assert [level[b] for b in table["building_id"].tolist()] == table["level"].tolist()


def test_prices_are_what_demand_and_supply_make_them(small: QuestionSet) -> None:
    """current_price follows Eq. 6 of PlanRAG from the tables' own demand and supply."""
    for situation in {s for _, s in of(small, "building")}:
        goods = situation["goods"]
        n = len(goods)
        demand = goods["pop_demand"] + np.bincount(
            situation["demand"]["goods_id"], situation["demand"]["max_demand"], n
        )
        supply = np.bincount(
            situation["supply"]["goods_id"], situation["supply"]["current_output"], n
        )
        larger = np.maximum(demand, supply)
        balance = np.divide(demand - supply, larger, out=np.zeros(n), where=larger > 0.0)
        np.testing.assert_allclose(
            goods["current_price"], goods["base_price"] * (1 + 0.75 * balance), rtol=1e-9
        )


def test_names_are_unique_and_fit_the_release_columns(small: QuestionSet) -> None:
    """Names of a table never repeat, even without regard to case, and have 30 letters at most."""
    for situation in small.situations.values():
        columns = (
            [("trade_node", "trade_node"), ("country", "country_name")]
            if situation.schema.scenario == "locating"
            else [("goods", "goods_name")]
        )
        for table, column in columns:
            names = [name.lower() for name in situation[table][column].tolist()]
            assert len(set(names)) == len(names)
            assert max(map(len, names)) <= 30
