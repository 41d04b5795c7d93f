"""The chat model that a script drives."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from dqa.errors import UnknownNameError, UsageError
from dqa.models.scripted import building, locating
from dqa.models.scripted.conversation import Observed, Task, read_conversation
from dqa.models.scripted.steps import Answer, Script, Step

__all__ = ["SCRIPTS", "ScriptedModel", "scripted_model"]

Scenarios: TypeAlias = dict[str, Callable[[Task, int], Script]]

SCRIPTS: Final[dict[str, Scenarios]] = {
    "analyst": {"locating": locating.analyst, "building": building.analyst},
    "greedy": {"locating": locating.greedy, "building": building.greedy},
    "random": {"locating": locating.random, "building": building.random},
}
"""Scripts by model name and scenario."""


_TABLES: Final = {
    "locating": ({"trade_node", "flow", "node_country"}, {"Trade_node", "Country"}),
    "building": ({"goods", "supply", "demand"}, {"Goods", "Building"}),
}
"""What a database of each scenario holds, as tables and as labels."""


class ScriptedModel(BaseChatModel):
    """A chat model whose replies a script decides from the conversation alone.

    Attributes
    ----------
    script
        Name of the script: a key of `SCRIPTS`.
    seed
        Seed of whatever the script leaves to chance.
    """

    script: str
    seed: int = 0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"script": self.script, "seed": self.seed}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401  (the base class's signature)
    ) -> ChatResult:
        del stop, run_manager, kwargs  # a script ends its replies where they have to end
        task, observed = read_conversation(messages)
        script = SCRIPTS[self.script][_scenario(task, self.script)](task, self.seed)
        text = _reply(task, _advance(script, observed), first=not observed)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


@dataclass(frozen=True, slots=True)
class _Turn:
    """What the script does now, and the plan it holds."""

    move: Step | Answer
    new_plan: str | None


def _advance(script: Script, observed: list[Observed]) -> _Turn:
    """Run the script past everything that was observed, to what it does next.

    A script holds no state between calls: it is started anew and fed the observations, so the
    conversation alone decides.
    """
    plan: str | None = None
    try:
        step = next(script)
        for seen in observed:
            plan = step.plan or plan
            step = script.send(seen)
    except StopIteration as end:
        answer: Answer = end.value
        return _Turn(answer, None)
    return _Turn(step, step.plan if step.plan != plan else None)


def _reply(task: Task, turn: _Turn, *, first: bool) -> str:
    lines = []
    if task.plans and first:
        lines.append(f"Plan:\n{turn.new_plan}")
    elif task.replans:
        lines.append(f"Re-plan:\n{turn.new_plan}" if turn.new_plan else "Re-plan: keep")
    lines.append(f"Thought: {turn.move.thought}")
    if isinstance(turn.move, Answer):
        lines.append(f"Final Answer: {turn.move.answer}")
    else:
        lines += ["Action: query_database", f"Action Input: {turn.move.statement}"]
    return "\n".join(lines)


def _scenario(task: Task, script: str) -> str:
    known = set(re.findall(r"^(?:\(:)?[`\"]?(\w+)", task.schema, re.MULTILINE))
    for scenario, tables in _TABLES.items():
        if any(names <= known for names in tables):
            return scenario
    raise UsageError(
        f"scripted:{script} reads only databases of the Locating and Building scenarios, and this "
        "one has other tables; name a language model with --model, e.g. openai:gpt-5."
    )


def scripted_model(name: str, seed: int = 0) -> ScriptedModel:
    """Return the scripted model called `name`; `UnknownNameError` where there is none."""
    if name not in SCRIPTS:
        raise UnknownNameError("scripted model", name, SCRIPTS)
    return ScriptedModel(script=name, seed=seed)
