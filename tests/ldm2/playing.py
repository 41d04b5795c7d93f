"""Scripted models with fixed replies, and episodes that are played several times."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from langchain_core.messages import AIMessage
from pydantic import BaseModel, ValidationError

from dqa.core.decider import Decider, EpisodeDecider, Step, Trajectory
from dqa.core.decision import Decision
from dqa.core.events import Event, PromptEvent, StepEvent
from dqa.deciders.base import ByScenario, Settings
from dqa.deciders.method import method
from dqa.evaluation.episodes import Played, play_episode
from dqa.models.conversation import StepPrompt
from dqa.models.scripted import ProgramModel, scripted_model
from dqa.testing.models import PreparedReplies, Request
from dqa.worlds.history import History
from dqa.worlds.observed import AGENT
from dqa_ldm2 import Ldm2Decider, Ldm2Settings, Memory
from dqa_ldm2.deciders import MemoryDecider
from dqa_ldm2.scripted.responder import RESPONDER
from dqa_ldm2.settings import ExampleSettings, MemorySettings
from tests.ldm2.rooms import Rooms, RoomsSettings

_Found = TypeVar("_Found", bound=BaseModel)


def canned(**replies: object) -> PreparedReplies:
    """Return a model that replies by purpose, or as the scripted analyst.

    A reply is a text, an object, a list of replies in order, or a function of the prompt's values.
    """

    def reply_to(request: Request) -> str | AIMessage:
        prompt = request.messages[0]
        assert isinstance(prompt, StepPrompt)
        reply = replies.get(prompt.purpose)
        if reply is None:
            return RESPONDER.reply(request.messages, (), "analyst", 0)
        if isinstance(reply, list):
            reply = reply.pop(0)
        if callable(reply):
            reply = reply(prompt.values)
        return reply if isinstance(reply, str) else json.dumps(reply)

    return PreparedReplies(reply_to)


def found(trace: Iterable[Event], kind: type[_Found], purpose: str) -> list[_Found]:
    """Return the results of a step in a trace."""
    results = []
    for event in trace:
        if isinstance(event, StepEvent) and event.purpose == purpose:
            try:
                results.append(kind.model_validate(event.result))
            except ValidationError as error:
                raise AssertionError(event) from error
    return results


def prompts(trace: Iterable[Event]) -> list[str]:
    """Return the prompts of a trace."""
    return [event.messages[0][1] for event in trace if isinstance(event, PromptEvent)]


@dataclass(frozen=True, slots=True)
class Attempts:
    """Every attempt at an episode, and the chosen one."""

    played: tuple[Played, ...]
    trajectories: tuple[Trajectory, ...]
    chosen: Decision

    @property
    def reward(self) -> float:
        """The reward of the chosen attempt."""
        assert self.chosen.choice is not None
        return self.trajectories[int(self.chosen.choice) - 1].reward or 0.0

    @property
    def trace(self) -> list[Event]:
        """The events of all moves."""
        moves = (move for one in self.played for move in one.moves)
        return [event for move in moves for event in move.decision.trace]


def deciding(
    memory: Memory,
    kind: type[MemoryDecider] = Ldm2Decider,
    own_kind: type[MemorySettings] | None = None,
    model: ProgramModel | None = None,
    **own: object,
) -> Decider:
    """Return a decider with an open memory."""
    usual = Ldm2Settings if kind is Ldm2Decider else ExampleSettings
    made = method("mine", "", partial(kind, memory=memory), own_kind or usual)
    options = {f"{made.name}.{name}": str(value) for name, value in own.items()}
    decider = made(model or scripted_model("analyst"), Settings(options=options))
    assert isinstance(decider, ByScenario)
    return decider.usual


def play(decider: Decider, history: History, seed: int, settings: RoomsSettings) -> Attempts:
    """Play an episode as often as the decider wants to."""
    assert isinstance(decider, EpisodeDecider)
    played: list[Played] = []
    seen: list[Trajectory] = []
    while len(seen) < decider.attempts and (player := decider.attempt(seen)) is not None:
        played.append(play_episode(Rooms(settings, history), {AGENT: player}, seed))
        seen.append(_trajectory(played[-1], seed))
    return Attempts(tuple(played), tuple(seen), decider.choose_attempt(seen))


def _trajectory(played: Played, seed: int) -> Trajectory:
    assert played.returns is not None, played.moves[-1].decision.error
    events = [move.event for move in played.moves]
    steps = tuple(Step(one.shown.partition("\n")[2], str(one.choice)) for one in events)
    goal = events[0].shown.partition("\n")[0].removeprefix("Goal: ")
    return Trajectory(goal, steps, f"rooms {seed}", played.returns[AGENT])
