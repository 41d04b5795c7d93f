"""What BIDDER itself takes beside its model: milliseconds of processor time a request.

Run ``python -m benchmarks.bidder`` (``--rounds N``). In four worlds a scripted model plays some
positions once; its replies are then given at once by a model that looks them up. The plain side
sends that model the same requests and nothing else; BIDDER infers, explores, fills in prompts,
reads replies, adds up returns and records everything. It may take 1 ms a request, beyond the plain
side. Reading a history is not measured here. The last columns tell how many requests a decision of
T = 2 made, and how many states its tree has. Exit code 1 where a bound is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from time import process_time

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from dqa import plugins
from dqa.core.question import Candidate
from dqa.core.world import Position
from dqa.models.conversation import Conversation
from dqa.models.scripted import ProgramModel, scripted_model
from dqa_bidder.events import ExploredTreeEvent
from dqa_bidder.settings import BidderSettings
from dqa_bidder.steps.bidder import Bidder
from dqa_bidder.task import Task

WORLDS = ("kuhn", "leduc", "holdem", "negotiation")
GAMES = 4
MOST_MILLISECONDS = 1.0
"""What BIDDER may take for itself a request."""


class Known(ProgramModel):
    """Replies what is known to be replied to a request, and takes no time."""

    replies: dict[str, AIMessage]

    def _reply(self, messages: list[BaseMessage], tools: list[str]) -> AIMessage:
        del tools
        return self.replies[messages[0].text]


class Noting(ProgramModel):
    """Replies as a scripted model does, and notes it."""

    replies: dict[str, AIMessage]

    def _reply(self, messages: list[BaseMessage], tools: list[str]) -> AIMessage:
        del tools
        reply = AIMessage(scripted_model("analyst").invoke(messages).text)
        self.replies[messages[0].text] = reply
        return reply


def tasks_of(world: str) -> list[Task]:
    """Return the moves of some games, in which everybody takes the second of the actions."""
    factory = plugins.world(world)
    made = factory.make(factory.settings(), None)
    tasks = []
    for seed in range(GAMES):
        episode = made.start(seed)
        for _ in range(3):
            move = episode.next_move()
            if move is None:
                break
            tasks.append(task_of(move.question.rules, move.question.text, world, move.position))
            actions: tuple[Candidate, ...] = move.position.actions
            episode.choose(actions[min(1, len(actions) - 1)])
        episode.close()
    return tasks


def task_of(rules: str, goal: str, world: str, position: Position) -> Task:
    """Return a move as a task."""
    return Task(world, goal, rules, position.actions, position=position)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="times each side runs")
    rounds: int = parser.parse_args().rounds
    print(f"Milliseconds of processor time a request, medians of {rounds} rounds, T = 2")
    print(f"{'world':12} {'plain':>7} {'BIDDER':>7} {'own':>7} {'requests':>9} {'states':>7}")
    worst = 0.0
    for world in WORLDS:
        tasks = tasks_of(world)
        noting = Noting(replies={})
        asked, states = [], []
        for task in tasks:
            before = Conversation(noting)
            Bidder(BidderSettings(parallel=1)).choose(task, before)
            trees = [one for one in before.recorder.events if isinstance(one, ExploredTreeEvent)]
            asked.append(trees[0].asked)
            states.append(len(trees[0].nodes))
        known = noting.replies
        model = Known(replies=known)
        count = sum(_decided(task, model) for task in tasks)
        sides: dict[str, Callable[[], object]] = {
            "plain": lambda model=model, known=known: [  # type: ignore[misc]
                model.invoke([HumanMessage(text)]) for text in known
            ],
            "ours": lambda model=model, tasks=tasks: [_decided(t, model) for t in tasks],  # type: ignore[misc]
        }
        took = _measured(sides, rounds)
        plain, ours = took["plain"] / len(known), took["ours"] / count
        worst = max(worst, ours - plain)
        print(
            f"{world:12} {plain:7.3f} {ours:7.3f} {ours - plain:7.3f} "
            f"{statistics.mean(asked):9.1f} {statistics.mean(states):7.1f}"
        )
        if any(a > s for a, s in zip(asked, states, strict=True)):
            sys.exit(f"{world}: more requests for a tree than it has states")
    print(f"bound: {MOST_MILLISECONDS} ms; most: {worst:.3f} ms")
    sys.exit(worst > MOST_MILLISECONDS)


def _decided(task: Task, model: ProgramModel) -> int:
    conversation = Conversation(model)
    Bidder(BidderSettings(parallel=1)).choose(task, conversation)
    return conversation.recorder.steps


def _measured(sides: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return each side's median milliseconds, measured in turn."""
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, run in sides.items():
            start = process_time()
            run()
            times[name].append(1_000.0 * (process_time() - start))
    return {name: statistics.median(spent) for name, spent in times.items()}


if __name__ == "__main__":
    main()
