"""The loop that all agents share (PlanRAG, Figure 3).

The loop asks the model for a reply. If the reply contains a plan, the loop records the plan. If the
reply calls tools, the loop runs them, shows the results to the model and asks again. If the reply
contains a decision, the loop ends. After an unreadable reply, the loop asks for a correction. When
the budget is spent, one last request asks for a decision from the evidence so far.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage

from dqa.core.decision import EXPECTED_FAILURES, Decision, Ending
from dqa.core.errors import InfrastructureError, NotApprovedError, UnparsableReplyError
from dqa.core.events import PlanEvent, ReplyEvent, ToolUse
from dqa.core.evidence import QUERY
from dqa.core.plans import steps_of
from dqa.core.recorder import Recorder
from dqa.deciders.base import Settings
from dqa.deciders.reviewing import describe_refusal, settle_decision
from dqa.models.calling import call_model
from dqa.models.conversation import correction, given_up
from dqa.models.replies import ModelReply
from dqa_planrag.plan_reviews import describe_plan, settle_plan
from dqa_planrag.prompting import fill_blocks, standing_plan
from dqa_planrag.react import ReAct, spoken
from dqa_planrag.recipes import Recipe
from dqa_planrag.reply import Reply, ToolRequest
from dqa_planrag.run import Run, in_turns
from dqa_planrag.tool_calls import ToolCalls

TalkProtocol: TypeAlias = ReAct | ToolCalls
PROTOCOLS: Mapping[str, TalkProtocol] = {"react": ReAct(), "tools": ToolCalls()}
"""The protocols of the conversation between an agent and its model."""
_NOT_RUN = "Not run, because a person refused or changed the plan."


class Loop:
    """The loop of one agent."""

    def __init__(self, recipe: Recipe, model: BaseChatModel, settings: Settings) -> None:
        self._recipe = recipe
        self._model = model
        self._settings = settings
        self._protocol = PROTOCOLS[settings.protocol]

    def run(self, run: Run) -> Decision:
        """Ask the model until it decides or the run has to end."""
        decision: Decision | None = None
        try:
            while decision is None:
                self._turn(run)
                decision = self._carry_out(run) or self._ended(run)
        except EXPECTED_FAILURES as error:
            return run.recorder.failed(error)
        return decision

    def _turn(self, run: Run) -> None:
        """Ask for the next reply, and read it."""
        recorder, tools = run.recorder, self._offered(run)
        turn = call_model(
            self._protocol.offering(self._model, tools, run.toolbox),
            in_turns([*run.messages, *self._plan_shown(run)]),
            recorder,
            self._settings.calls,
            self._protocol.stop,
        )
        recorder.steps += 1
        run.reply, run.problem = self._read(turn, run, tools)
        calls = self._protocol.calls(turn.reply, run.reply)
        recorder.note(
            turn.event(
                recorder.steps,
                spoken(turn.reply.text),
                None if run.reply is None else run.reply.thought,
                calls=tuple(ToolUse(**call) for call in calls),
            )
        )
        run.messages += self._protocol.history(turn.reply, run.reply)
        if run.reply is None:
            run.failures += 1
            return
        run.current_step = run.reply.current_step
        # Tool calls and decisions are checked later, and may still be invalid. So they do not reset
        # the number of failures.
        if not run.reply.requests and run.reply.answer is None:
            run.failures = 0

    def _carry_out(self, run: Run) -> Decision | None:
        """Do what the last reply asks. Return the decision, or None if the model must continue."""
        reply = run.reply
        if reply is None:
            run.note_failure()
            run.messages.append(correction(run.problem))
            return None
        if self._recipe.plans:
            reply = run.reply = _settle_plan(
                run, reply, self._protocol, replans=self._recipe.replans
            )
        if reply.answer is not None:
            return self._answer(run, reply)
        if reply.acts:
            self._retrieve(run, reply)
        return None

    def _plan_shown(self, run: Run) -> list[BaseMessage]:
        """Return the current plan as a message, for a model that continues after an observation.

        The message is not stored, because the conversation would grow with every repeated plan.
        """
        recorder, reply = run.recorder, run.reply
        if not self._recipe.plans or not recorder.plans or not recorder.evidence:
            return []
        if reply is not None and not reply.acts:
            return []
        plan = standing_plan(self._protocol.name, recorder.plans[-1], run.current_step)
        return [HumanMessage(plan)]

    def _offered(self, run: Run) -> tuple[str, ...]:
        recipe, recorder = self._recipe, run.recorder
        if recorder.ended_by is not None:
            return ("decide",)
        if recipe.reads_once:
            return ("decide",) if _has_read(recorder) else tuple(run.toolbox.tools)
        if recipe.plans and not recorder.plans:
            return ("plan",)
        return (*run.toolbox.tools, *(["replan"] if recipe.replans else []), "decide")

    def _read(self, turn: ModelReply, run: Run, tools: tuple[str, ...]) -> tuple[Reply | None, str]:
        """Return the content of a reply and an empty text, or None and the problem."""
        try:
            turn.check()
            reply = self._protocol.read(turn.reply, run.recorder.steps, tools, run.toolbox)
            self._check(reply, run)
        except UnparsableReplyError as error:
            return None, str(error)
        return reply, ""

    def _check(self, reply: Reply, run: Run) -> None:
        """Raise `UnparsableReplyError` for a readable reply that breaks the agent's rules."""
        recipe, recorder = self._recipe, run.recorder
        if recorder.ended_by is not None:
            if reply.answer is None:
                raise UnparsableReplyError("The budget is spent, but the reply has no decision.")
            return
        if recipe.plans and not recorder.plans and not (reply.plan or reply.replan):
            raise UnparsableReplyError(self._protocol.plan_first)
        if recipe.reads_once and reply.requests and _has_read(recorder):
            raise UnparsableReplyError(self._protocol.answer_now)
        if recipe.reads_once and len(reply.requests) > 1:
            raise UnparsableReplyError("The database can be read only once. Make a single call.")
        if not recipe.plans and not reply.acts:
            raise UnparsableReplyError("The reply neither calls a tool nor decides.")

    def _retrieve(self, run: Run, reply: Reply) -> None:
        """Run the tools that the reply calls, and show the results to the model."""
        if reply.only_thinks:
            run.say(self._protocol.after_thought)
            return
        before = len(run.recorder.evidence)
        results = [(request, self._use(request, run)) for request in reply.requests]
        last_words = ""
        if self._recipe.reads_once and _has_read(run.recorder):
            last_words = self._ask_now(("closing", "last_thought", "answer"), run)
        run.messages += self._protocol.observed(results, last_words)
        run.failures = 0 if len(run.recorder.evidence) > before else run.failures + 1

    def _use(self, request: ToolRequest, run: Run) -> str:
        """Run a tool, and return its result or the reason why it did not run."""
        spent = run.recorder.has_read_enough()
        if spent is not None:
            return f"Not run: the budget of {spent} is spent."
        try:
            evidence = run.toolbox.use(request)
        except UnparsableReplyError as error:
            run.problem = str(error)
            run.note_failure()
            return run.problem
        run.recorder.add_evidence(evidence)
        return evidence.observation

    def _answer(self, run: Run, reply: Reply) -> Decision | None:
        """Return the decision in a reply; None if the model has to decide again."""
        answer = reply.answer or ""
        try:
            settled, choice = settle_decision(answer, run.choose(answer), run.choose)
        except UnparsableReplyError as error:
            run.problem = str(error)
            run.failures += 1
            run.note_failure()
            run.messages += self._protocol.refused(reply, run.problem)
            return None
        if settled.text is None:
            run.messages += self._protocol.objected(reply, describe_refusal(settled, "decision"))
            return None
        return run.recorder.answered(settled.text, choice)

    def _ask_now(self, blocks: Sequence[str], run: Run, **values: object) -> str:
        """Return the text that asks for a decision from the evidence so far."""
        return fill_blocks(blocks, self._protocol.name, run.question.answer_form, **values)

    def _ended(self, run: Run) -> Decision | None:
        """Return the final decision of a run that has to end; None if the run can continue."""
        recorder, most = run.recorder, self._settings.max_steps
        if run.failures >= self._settings.max_parse_failures:
            return recorder.failed(given_up(run.failures, run.problem))
        if recorder.steps >= most:
            return recorder.ended(Ending.STEP_LIMIT, f"No decision within {most} replies.")
        has_read_all = self._recipe.reads_once and _has_read(recorder)
        if recorder.over_budget(reads=not has_read_all) is None:
            return None
        return self._close(run)

    def _close(self, run: Run) -> Decision:
        """After the budget is spent, ask for a decision from the evidence so far."""
        recorder = run.recorder
        if recorder.close_by_budget():
            run.say(self._ask_now(("out_of_budget", "answer"), run, spent=recorder.spent))
            self._turn(run)
            if run.reply is None or run.reply.answer is None:
                run.note_failure()
            elif (decision := self._answer(run, run.reply)) is not None:
                return decision
        return _last_decision(run)


def _has_read(recorder: Recorder) -> bool:
    """Return whether a statement was run. A statement that a person refused was not run."""
    return any(found.error != NotApprovedError.__name__ for found in recorder.evidence)


def _last_decision(run: Run) -> Decision:
    """Return the last decision that the agent stated, or a decision without a choice.

    For a question with candidates, the last thought that names exactly one candidate states the
    decision. For a question whose answer is a statement, the decision is the last statement that
    ran without an error and is a valid answer.
    """
    recorder = run.recorder
    for text in _decision_texts(run):
        try:
            choice = run.choose(text)
        except InfrastructureError as error:
            return recorder.failed(error)
        except UnparsableReplyError:
            continue
        if choice is not None:
            return recorder.answered(str(choice), choice)
    problem = f"The budget of {recorder.spent} was spent before the agent stated a decision."
    return recorder.ended(Ending.NO_DECISION, problem)


def _decision_texts(run: Run) -> Iterator[str]:
    """Yield the texts that may state a decision, the last text first."""
    recorder = run.recorder
    if run.question.answer_form == "statement":
        ran = [one for one in recorder.evidence if one.tool == QUERY and one.error is None]
        yield from (evidence.statement for evidence in reversed(ran))
        return
    for event in reversed(recorder.events):
        if isinstance(event, ReplyEvent) and event.thought:
            yield event.thought


def _settle_plan(run: Run, reply: Reply, talk: TalkProtocol, *, replans: bool) -> Reply:
    """Record the plan that a reply contains, and return the reply.

    If a person refused or corrected the plan, the returned reply has no actions.
    """
    plans = run.recorder.plans
    text = _new_plan(reply, plans, replans=replans)
    settled = None if text is None else settle_plan(text)
    is_first = not plans
    if settled is not None and settled.text is not None:
        plans.append(settled.text)
        event = PlanEvent(step=run.recorder.steps, text=settled.text)
        run.recorder.note(event if is_first else event.changed(kind="replan"))
    if settled is not None and (settled.text is None or settled.corrected):
        return _cancel_actions(run, reply, talk, describe_plan(settled, is_first=is_first))
    if not reply.acts:
        run.say(talk.after_plan)
    return reply


def _cancel_actions(run: Run, reply: Reply, talk: TalkProtocol, message: str) -> Reply:
    """Cancel the actions of a reply whose plan was refused or corrected, and explain why."""
    messages: list[BaseMessage] = [HumanMessage(message)]
    if reply.requests:
        messages = talk.observed([(request, _NOT_RUN) for request in reply.requests], message)
    elif reply.answer is not None:
        messages = talk.objected(reply, message)
    run.messages += messages
    return replace(reply, requests=(), answer=None, answer_id="", only_thinks=False)


def _new_plan(reply: Reply, plans: list[str], *, replans: bool) -> str | None:
    if not plans:
        return reply.plan or reply.replan
    if reply.keeps or not replans:
        return None
    # A model that writes different steps after "Plan:" has re-planned under the wrong label.
    text = reply.replan or reply.plan
    return text if text is not None and _steps(text) != _steps(plans[-1]) else None


def _steps(plan: str) -> list[str]:
    """Return the steps of a plan without numbers, capitals and punctuation."""
    return [step.bare for step in steps_of(plan)]
