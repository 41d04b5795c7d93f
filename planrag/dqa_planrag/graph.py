"""An agent's nodes and routes as one graph, which LangGraph runs or which is walked without it.

Both call the same nodes in the same order, with the same states. LangGraph is there for whoever
watches: callbacks, tracers, and a graph around the agent. Where nobody does, its supersteps
(channels, tasks, checkpoints that are not kept) would take more of the processor than the agent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias, cast

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from dqa.core.errors import DqaError
from dqa.models.unwatched import is_watched, unwatched
from dqa_planrag.state import CONVERSATION, Run, State, Update

Route: TypeAlias = Callable[[State, Runtime[Run]], str]
"""Returns which node comes next, or `END`."""


class NodeFunction(Protocol):
    """What a node does."""

    def __call__(self, state: State, runtime: Runtime[Run]) -> Update:
        """Return what changes: messages that are added, and values that take others' places."""
        ...


@dataclass(frozen=True, slots=True)
class Node:
    """One node of a graph.

    Attributes
    ----------
    work
        What it does.
    route
        Where it leads; None for the end.
    targets
        Where it may lead.
    """

    work: NodeFunction
    route: Route | None = None
    targets: tuple[str, ...] = (END,)


class AgentGraph:
    """The graph of an agent.

    Parameters
    ----------
    nodes
        By name.
    first
        Where a run begins.
    """

    def __init__(self, nodes: Mapping[str, Node], first: str) -> None:
        self._nodes = nodes
        self._first = first

    def run(self, state: State, run: Run, most: int) -> State:
        """Run from a state to the end, and return the last state.

        Parameters
        ----------
        state
            Where the run begins.
        run
            What it needs besides.
        most
            Nodes after which it must have ended; agents count their own steps, and end before.
        """
        if not is_watched():
            with unwatched():
                return self.walk(state, run, most)
        try:
            config = RunnableConfig(recursion_limit=most)
            return cast("State", self.compiled.invoke(state, config, context=run))
        except DqaError as error:
            error.__notes__ = []  # LangGraph names its task, which tells a user nothing
            raise

    @cached_property
    def compiled(self) -> CompiledStateGraph[State, Run, State, State]:
        """The graph as LangGraph runs it.

        It keeps no checkpoints: a run is one node's work to whoever has a graph around it.
        """
        graph = StateGraph(State, context_schema=Run)
        graph.add_edge(START, self._first)
        for name, node in self._nodes.items():
            graph.add_node(name, node.work)
            if node.route is None:
                graph.add_edge(name, END)
            else:
                graph.add_conditional_edges(name, node.route, list(node.targets))
        return graph.compile(checkpointer=False)

    def walk(self, state: State, run: Run, most: int) -> State:
        """Run without LangGraph; the parameters are those of `run`."""
        runtime, name = Runtime(context=run), self._first
        for _ in range(most):
            node = self._nodes[name]
            state = _updated(state, node.work(state, runtime))
            name = END if node.route is None else node.route(state, runtime)
            if name == END:
                return state
        raise AssertionError(f"no end after {most} nodes; the last one led to {name!r}")


def _updated(state: State, update: Update) -> State:
    """Return a state after a node: what it adds to conversations, and what it replaces."""
    added = {key: [*state[key], *update[key]] for key in CONVERSATION.values() if key in update}
    return cast("State", {**state, **update, **added})
