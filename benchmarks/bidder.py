"""The time that BIDDER itself takes for a request, compared with the requests alone.

Run ``python -m benchmarks.bidder`` (``--games N``, ``--rounds N``). In four worlds, a scripted
model plays some positions. Then BIDDER plays them again with the stored replies. The column "plain"
shows the time of the same requests without BIDDER. The last columns show the number of requests of
a decision with default settings, and the number of states of its tree. The exit code is 1 if BIDDER
needs more than 1 ms per request, or sends more requests than its tree has states.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from statistics import mean

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from benchmarks.measuring import in_turn
from benchmarks.needs import require
from dqa import plugins
from dqa.core.recorder import Recorder
from dqa.deciders.base import Settings
from dqa.deciders.method import Asking
from dqa.models.scripted import ProgramModel, scripted_model
from dqa_bidder.bidder import Bidder
from dqa_bidder.exploration import ExploredTree
from dqa_bidder.settings import BidderSettings
from dqa_bidder.task import Task
from tests.stored import find_step

WORLDS = ("kuhn", "leduc", "holdem", "negotiation")
MOST_MILLISECONDS = 1.0
"""The maximum time that BIDDER itself may add to a request."""


class Known(ProgramModel):
    """Replies like the scripted analyst, and returns stored replies to repeated requests."""

    replies: dict[str, AIMessage]

    def _reply(self, messages: list[BaseMessage], tools: list[str]) -> AIMessage:
        del tools
        asked = messages[0].text
        if asked not in self.replies:
            self.replies[asked] = AIMessage(scripted_model("analyst").invoke(messages).text)
        return self.replies[asked]


def tasks_of(world: str, games: int) -> Iterator[Task]:
    """Yield the moves of some games, in which every player takes the second action."""
    factory = plugins.world(world)
    made = factory.make(factory.settings(), None)
    for seed in range(games):
        episode = made.start(seed)
        for _ in range(3):
            move = episode.next_move()
            if move is None:
                break
            position, question = move.position, move.question
            yield Task(world, question.text, question.rules, position.actions, position=position)
            episode.choose(position.actions[min(1, len(position.actions) - 1)])
        episode.close()


def decide(task: Task, model: ProgramModel) -> Recorder:
    """Let BIDDER choose, and return its records."""
    asking = Asking("dqa_bidder", model)
    Bidder("bidder", model, Settings(own=BidderSettings(parallel=1))).solve(task, asking)
    return asking.recorder


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=9, help="times each side runs")
    given = parser.parse_args()
    require("games")
    print("Milliseconds of processor time for a request")
    print(f"{'world':12} {'plain':>7} {'BIDDER':>7} {'own':>7} {'requests':>9} {'states':>7}")
    wrong = False
    for world in WORLDS:
        tasks, model = list(tasks_of(world, given.games)), Known(replies={})
        recorders = [decide(task, model) for task in tasks]
        found_trees = [find_step(one.events, ExploredTree, "exploration") for one in recorders]
        trees = [tree for tree in found_trees if tree is not None]

        def send(model: Known = model) -> None:
            for text in model.replies:
                model.invoke([HumanMessage(text)])

        def decide_all(model: Known = model, tasks: list[Task] = tasks) -> None:
            for task in tasks:
                decide(task, model)

        found = in_turn({"plain": send, "ours": decide_all}, given.rounds)
        plain = 1e3 * found["plain"].cpu / len(model.replies)
        ours = 1e3 * found["ours"].cpu / sum(recorder.steps for recorder in recorders)
        asked, states = [tree.asked for tree in trees], [tree.states for tree in trees]
        wrong |= ours - plain > MOST_MILLISECONDS
        wrong |= any(a > s for a, s in zip(asked, states, strict=True))
        print(
            f"{world:12} {plain:7.3f} {ours:7.3f} {ours - plain:7.3f} {mean(asked):9.1f} "
            f"{mean(states):7.1f}"
        )
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
