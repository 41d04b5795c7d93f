"""Pictures of decisions as data: nodes in layers, and edges between them.

A scenario or a method describes a picture, and the report draws it. Entry points: ``dqa.pictures``
by the name of a scenario, ``dqa.trace_pictures`` for a method's own traces.
"""

from __future__ import annotations

from typing import Literal, Protocol, Self, TypeAlias, runtime_checkable

from pydantic import Field, model_validator

from dqa.core.question import Candidate, Question
from dqa.core.records import Record
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation

Shape: TypeAlias = Literal["circle", "box", "dot"]
"""The shape of a node: a location, a named object, or one of many small ones."""


class PictureNode(Record):
    """A node.

    Attributes
    ----------
    id
        Unique in its picture.
    label
        Its label.
    layer
        Its column, from 0 at the left; the layout orders the nodes of a column.
    shape
        Its shape.
    focus
        Whether the question is about it.
    candidate
        The candidate that it represents; its outcome and who chose it are marked.
    value
        Its value in the picture's unit; larger ones are drawn larger.
    notes
        Names and values of its tooltip.
    """

    id: str
    label: str
    layer: int = Field(ge=0)
    shape: Shape = "circle"
    focus: bool = False
    candidate: Candidate | None = None
    value: float | None = None
    notes: tuple[tuple[str, str], ...] = ()


class PictureEdge(Record):
    """An edge from a node to another; `weight` sets how wide it is drawn."""

    source: str
    target: str
    weight: float | None = Field(default=None, ge=0)
    label: str = ""


class Picture(Record):
    """A graph in layers.

    Attributes
    ----------
    title, caption
        Its title, and how to read it.
    nodes, edges
        Its nodes and edges.
    left_out
        How many less important nodes are missing.
    """

    title: str
    caption: str = ""
    nodes: tuple[PictureNode, ...] = Field(min_length=1)
    edges: tuple[PictureEdge, ...] = ()
    left_out: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _of_its_nodes(self) -> Self:
        known = {node.id for node in self.nodes}
        if len(known) < len(self.nodes):
            raise ValueError("two nodes have the same id")
        for edge in self.edges:
            if not {edge.source, edge.target} <= known:
                raise ValueError(f"the edge {edge.source} to {edge.target} leads to no node of it")
        return self


@runtime_checkable
class QuestionPictures(Protocol):
    """Draws the questions of a scenario."""

    def __call__(
        self,
        situation: Situation,
        question: Question,
        outcomes: Outcomes,
        chosen: tuple[Candidate, ...],
    ) -> Picture | None:
        """Return the picture of a question and its `chosen` candidates; None for no picture."""
