"""What the BIDDER paper printed: its Tables 1 to 3.

Zhang et al., 2024, sections 3.1.2, 3.1.3 and 3.2.3. Figures stand as printed, also where a mean is
not that of its row; players and opponents have the names of those that stand for them here.
"""

from __future__ import annotations

from dqa.evaluation.papers import AGREEMENTS, Publication, PublishedRow, PublishedTable

_OPPONENTS = ("random", "rule", "cfr", "dqn", "dmc", "deepcfr")


_BARGAINERS = ("mcts", "direct", "cot", "tree-of-thoughts", "bidder")
"""The opponents of Table 3."""


def _payoffs(name: str, player: str, *printed: float) -> PublishedRow:
    """Return a row of figures by opponent, and their mean."""
    return PublishedRow.of(name, player, [(one, "") for one in (*_OPPONENTS, "")], printed)


def _shares(name: str, player: str, *percents: float) -> PublishedRow:
    return _payoffs(name, player, *(round(percent / 100.0, 6) for percent in percents))


def _deals(name: str, player: str, *printed: tuple[float, float, float]) -> PublishedRow:
    """Return a row of scores, agreements and Pareto optimality, of which two are in percent."""
    places = [(one, column) for one in (*_BARGAINERS, "") for column in AGREEMENTS]
    cells = [(score, agreed / 100.0, best / 100.0) for score, agreed, best in printed]
    return PublishedRow.of(name, player, places, [figure for cell in cells for figure in cell])


_TABLE_1 = PublishedTable(
    name="Table 1",
    title="Limit Texas hold'em: average chips of the player",
    world="holdem",
    measure="payoff",
    note="The paper gives no intervals, and no blinds or chips of its games.",
    rows=(
        _payoffs("Random", "random", -0.28, -0.05, -0.56, -1.87, -0.55, -1.89, -0.87),
        _payoffs("Rule", "rule", 0.01, -0.14, 0.04, 0.21, -0.07, 0.33, 0.06),
        _payoffs("CFR", "cfr", 0.55, -0.17, -0.38, -3.15, -1.89, -3.88, -1.49),
        _payoffs("DQN", "dqn", 2.61, 0.19, 2.86, 0.06, -0.03, -5.28, 0.07),
        _payoffs("DMC", "dmc", 1.53, 0.34, 1.41, 0.17, -0.09, -0.038, 0.55),
        _payoffs("DeepCFR", "deepcfr", 1.55, 0.11, 2.85, 3.15, -0.03, -0.67, 1.16),
        _payoffs("Direct", "direct", 0.86, 0.68, 0.74, -0.30, -0.12, -0.30, 0.26),
        _payoffs("CoT", "cot", 0.99, 0.49, 0.83, 0.71, 0.42, -0.64, 0.47),
        _payoffs("Reflexion", "reflexion", 1.42, 0.48, 0.76, 1.00, 0.44, -0.53, 0.60),
        _payoffs("BIDDER, T = 1", "bidder-t1", 2.66, 0.74, 2.83, 1.61, -0.10, 1.45, 1.53),
        _payoffs("BIDDER, T = 2", "bidder-t2", 2.47, 0.74, 3.39, 1.61, -0.10, 1.44, 1.59),
        _payoffs("BIDDER, T = 3", "bidder-t3", 1.61, 0.74, 2.76, 1.87, -0.14, 0.39, 1.21),
    ),
)
_TABLE_2 = PublishedTable(
    name="Table 2",
    title="Limit Texas hold'em: rational degree (equation 6)",
    world="holdem",
    measure="rational",
    reference="deepcfr",
    note="The reference is each side's own training of Deep CFR: degrees by two of them are not "
    "the same measure.",
    rows=(
        _shares("Random", "random", 33.72, 37.76, 29.65, 34.52, 34.22, 32.52, 33.73),
        _shares("Rule", "rule", 35.29, 36.44, 44.81, 48.36, 43.54, 42.08, 41.75),
        _shares("CFR", "cfr", 46.43, 51.43, 37.77, 39.38, 42.22, 40.82, 43.01),
        _shares("DQN", "dqn", 54.86, 54.59, 60.45, 51.66, 64.48, 52.65, 56.45),
        _shares("DMC", "dmc", 42.00, 50.62, 43.51, 29.36, 39.3, 28.95, 38.95),
        _shares("Direct", "direct", 6.20, 2.01, 6.90, 5.56, 7.85, 2.43, 5.16),
        _shares("CoT", "cot", 9.32, 2.05, 11.43, 11.6, 15.6, 6.96, 9.49),
        _shares("BIDDER, T = 1", "bidder-t1", 65.51, 55.75, 66.76, 47.29, 80.81, 28.68, 57.47),
        _shares("BIDDER, T = 2", "bidder-t2", 68.38, 58.62, 70.09, 45.77, 79.24, 29.79, 58.97),
        _shares("BIDDER, T = 3", "bidder-t3", 66.03, 55.75, 69.85, 45.59, 78.65, 28.98, 57.47),
        _shares("DeepCFR", "deepcfr", 91.99, 91.07, 93.7, 89.45, 93.15, 83.69, 90.51),
    ),
)
_TABLE_3 = PublishedTable(
    name="Table 3",
    title="Negotiation: score over agreed games, agreement, and Pareto optimality of agreed deals",
    world="negotiation",
    measure="agreements",
    note="MCTS is here the fair one, which does not see the opponent's values; 'mcts-informed' "
    "does.",
    rows=(
        _deals(
            *("MCTS", "mcts"),
            *((14.8, 100, 60), (15.9, 100, 20), (22.4, 100, 30), (18.5, 100, 17), (15.0, 100, 33)),
            (17.3, 100, 32),
        ),
        _deals(
            *("Direct", "direct"),
            *((15.9, 100, 20), (11.2, 50, 40), (16.2, 50, 40), (11.2, 50, 60), (21.0, 17, 0)),
            (15.1, 53, 32),
        ),
        _deals(
            *("CoT", "cot"),
            *((25.2, 100, 30), (22.0, 50, 40), (22.4, 70, 29), (16.4, 80, 50), (23.0, 67, 0)),
            (21.8, 73, 30),
        ),
        _deals(
            *("ToT", "tree-of-thoughts"),
            *((20.8, 100, 17), (15.0, 50, 60), (16.4, 80, 50), (19.8, 71, 20), (21.5, 67, 0)),
            (18.7, 74, 29),
        ),
        _deals(
            *("BIDDER", "bidder"),
            *((30.3, 100, 33), (21.0, 17, 0), (18.0, 67, 0), (17.0, 67, 0), (24.0, 50, 33)),
            (22.6, 60, 13),
        ),
    ),
)

PAPER = Publication(
    name="bidder",
    citation="Zhang et al., 2024, on decision-making by bi-directional deliberation (BIDDER).",
    setting="Language models of 2024, 100 games each with its mirror, strong hands more frequent.",
    tables=(_TABLE_1, _TABLE_2, _TABLE_3),
)
"""What the paper printed."""
