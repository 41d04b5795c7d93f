"""What a world brings so that scripted models can play it: what its states are worth.

A script is found by the entry point ``dqa.world_scripts`` under the name of its world, and lies in
the world's package, which alone knows what `dqa.worlds.world.Position.describe` says there. Methods
whose prompts show a state hand it over as a `Shown`, read from the prompt alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from dqa.core.question import Candidate
from dqa.worlds.world import GameEvent


@dataclass(frozen=True, slots=True)
class Shown:
    """A state as a prompt shows it.

    Attributes
    ----------
    viewer
        Who knows it.
    mover
        Who acts in it; the viewer, or another player.
    state
        What `Position.describe` says.
    events
        What happened so far, assumed moves included.
    actions
        The legal actions of the mover, in words.
    hidden
        What was inferred of others, by player and name.
    scale
        The least and the most that the viewer can get, where the prompt says it.
    """

    viewer: str
    mover: str
    state: str
    events: tuple[GameEvent, ...]
    actions: tuple[str, ...]
    hidden: Mapping[tuple[str, str], str] = field(default_factory=dict)
    scale: tuple[float, float] | None = None


@runtime_checkable
class WorldScript(Protocol):
    """Plays a world for scripted models. Stateless."""

    def infer(self, shown: Shown, player: str, name: str, states: tuple[str, ...]) -> str:
        """Return the most likely of the states of another player's hidden variable."""
        ...

    def expect(self, shown: Shown) -> Candidate:
        """Return what the mover, another player than the viewer, will most likely do."""
        ...

    def estimate(self, shown: Shown) -> Mapping[str, float]:
        """Return what each action of the viewer is worth, from 0 to 1, by the action in words."""
        ...
