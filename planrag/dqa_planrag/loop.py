"""The one loop that all agents share (PlanRAG, Figure 3).

A model is asked, and its reply says what happens: a plan is recorded, tools are used and their
results shown, or the decision ends the run. A reply that cannot be read is corrected. Where a model
of its own plans, it is asked before the agent and after every retrieval. Where the decision's
budget is spent, the agent is asked once for the decision, by what has been seen.
"""

from __future__ import annotations

from collections.abc import Mapping

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage

from dqa.core.decision import Decision, Ending
from dqa.core.endings import EXPECTED_FAILURES
from dqa.core.errors import NotApprovedError, UnparsableReplyError
from dqa.core.events import ToolUse
from dqa.core.recorder import Recorder
from dqa.deciders.base import Settings
from dqa.deciders.reviewing import settle_decision, told_refusal
from dqa.models.conversation import Turn, correction, given_up, take_turn
from dqa_planrag.closing import last_stated
from dqa_planrag.planning import plan_in, settle
from dqa_planrag.prompting import closing, out_of_budget, standing_plan
from dqa_planrag.protocols import TalkProtocol, ToolResult, protocol
from dqa_planrag.recipes import Recipe
from dqa_planrag.reply import Reply
from dqa_planrag.state import Role, Run, in_turns


class Loop:
    """The loop for one agent, over the models of its roles."""

    def __init__(
        self, recipe: Recipe, models: Mapping[Role, BaseChatModel], settings: Settings
    ) -> None:
        self._recipe = recipe
        self._models = models
        self._settings = settings
        self._protocol: TalkProtocol = protocol(settings.protocol)
        self._plans = recipe.plans and not recipe.planner_apart

    def run(self, run: Run) -> Decision:
        """Ask in turns until a decision is made or the run has to end."""
        role: Role = "planner" if self._recipe.planner_apart else "agent"
        try:
            while True:
                self._turn(run, role)
                role, decision = self._carry_out(run, role)
                decision = decision or self._ended(run)
                if decision is not None:
                    return decision
        except EXPECTED_FAILURES as error:
            return run.recorder.failed(error)

    def _turn(self, run: Run, role: Role) -> None:
        """Ask a model for its next reply, and read it."""
        recorder, tools = run.recorder, self._offered(run, role)
        turn = take_turn(
            self._protocol.offering(self._models[role], tools, run.toolbox),
            in_turns([*run.messages[role], *self._plan_shown(run, role)]),
            recorder,
            self._settings.calls,
            self._protocol.stop,
        )
        step = recorder.steps + 1
        run.reply, run.problem = self._read(turn, run, role, tools)
        if role == "agent":
            recorder.steps = step
        calls = self._protocol.calls(turn.reply, run.reply)
        event = turn.event(
            step,
            self._protocol.spoken(turn.reply),
            None if run.reply is None else run.reply.thought,
            calls=tuple(ToolUse(**call) for call in calls),
            role=role,
        )
        recorder.note(event)
        run.messages[role] += self._protocol.kept(turn.reply, run.reply)
        if run.reply is None:
            run.failures += 1
            return
        if role == "agent":
            run.current_step = run.reply.current_step
        # Whether its tools exist and its answer names a candidate is not known yet.
        if not run.reply.requests and run.reply.answer is None:
            run.failures = 0

    def _carry_out(self, run: Run, role: Role) -> tuple[Role, Decision | None]:
        """Do what the last reply says; return who is asked next, or the decision."""
        reply = run.reply
        if reply is None:
            run.note_failure(role)
            run.messages[role].append(correction(run.problem))
            return role, None
        if self._plans or role == "planner":
            replans = self._recipe.replans
            reply = settle(run, reply, role, self._protocol, replans=replans)
            run.reply = reply
        if role == "planner":
            return "planner" if run.problem else "agent", None
        if not reply.acts:
            return "agent", None
        if reply.answer is not None:
            return "agent", self._answer(run, reply)
        judged = self._retrieve(run, reply) and self._recipe.planner_apart
        return "planner" if judged else "agent", None

    def _plan_shown(self, run: Run, role: Role) -> list[BaseMessage]:
        """Return the plan that holds, for a model that continues after an observation.

        It is shown and not stored: a conversation that repeats its plan grows with every reply.
        """
        recorder, reply = run.recorder, run.reply
        if role == "planner" or not self._plans or not recorder.plans or not recorder.evidence:
            return []
        if reply is not None and not reply.acts:
            return []
        plan = standing_plan(self._protocol.name, recorder.plans[-1], run.current_step)
        return [HumanMessage(plan)]

    def _offered(self, run: Run, role: Role) -> tuple[str, ...]:
        recipe, recorder = self._recipe, run.recorder
        if recorder.ended_by is not None:
            return ("decide",)
        if role == "planner":
            return ("replan",) if recorder.plans else ("plan",)
        if recipe.reads_once:
            return ("decide",) if _has_read(recorder) else run.toolbox.names
        if self._plans and not recorder.plans:
            return ("plan",)
        replanning = ("replan",) if self._plans and recipe.replans else ()
        return (*run.toolbox.names, *replanning, "decide")

    def _read(
        self, turn: Turn, run: Run, role: Role, tools: tuple[str, ...]
    ) -> tuple[Reply | None, str]:
        """Return what a reply says, or None and what its model has to be told."""
        step = run.recorder.steps + 1
        try:
            turn.check()
            if role == "planner":
                reply = self._protocol.read_verdict(turn.reply, step)
            else:
                reply = self._protocol.read(turn.reply, step, tools, run.toolbox)
            self._check(reply, run, role)
        except UnparsableReplyError as error:
            return None, str(error)
        return reply, ""

    def _check(self, reply: Reply, run: Run, role: Role) -> None:
        """Raise `UnparsableReplyError` where a readable reply breaks this agent's own rules."""
        recipe, recorder = self._recipe, run.recorder
        if recorder.ended_by is not None:
            if reply.answer is None:
                raise UnparsableReplyError("The budget is spent, and the reply does not decide.")
            return
        plans = role == "planner" or self._plans
        if plans and not recorder.plans and plan_in(reply) is None:
            talk = self._protocol
            raise UnparsableReplyError(talk.verdict_first if role == "planner" else talk.plan_first)
        if recipe.reads_once and reply.requests and _has_read(recorder):
            raise UnparsableReplyError(self._protocol.answer_now)
        if recipe.reads_once and len(reply.requests) > 1:
            raise UnparsableReplyError("The database can be read only once. Make a single call.")
        if not plans and not reply.acts:
            raise UnparsableReplyError("The reply neither asks for anything nor decides.")

    def _retrieve(self, run: Run, reply: Reply) -> bool:
        """Use the tools that the reply asks for, and show the results; return whether all ran."""
        if reply.only_thinks:
            run.messages["agent"] += self._protocol.thought_on()
            return False
        results, found = list[ToolResult](), 0
        for request in reply.requests:
            spent = run.recorder.has_read_enough()
            if spent is not None:
                results.append((request, f"Not run: the budget of {spent} is spent."))
                continue
            try:
                evidence = run.toolbox.use(request)
            except UnparsableReplyError as error:
                run.problem = str(error)
                results.append((request, run.problem))
                run.note_failure("agent")
                continue
            found += 1
            results.append((request, evidence.observation))
            run.recorder.add_evidence(evidence)
        last_words = (
            closing(self._protocol.name, run.question.answer_form)
            if self._recipe.reads_once and _has_read(run.recorder)
            else ""
        )
        run.messages["agent"] += self._protocol.observed(results, last_words)
        run.failures = 0 if found else run.failures + 1
        if self._recipe.planner_apart:
            run.messages["planner"].append(HumanMessage(_report(reply, results)))
        return bool(reply.requests) and not run.problem

    def _answer(self, run: Run, reply: Reply) -> Decision | None:
        """Return the model's decision, or tell the model what it can decide for."""
        answer, messages = reply.answer or "", run.messages["agent"]
        try:
            settled, choice = settle_decision(answer, run.choose(answer), run.choose)
        except UnparsableReplyError as error:
            run.problem = str(error)
            run.failures += 1
            run.note_failure("agent")
            messages += self._protocol.refused(reply, run.problem)
            return None
        if settled.text is None:
            messages += self._protocol.objected(reply, told_refusal(settled, "decision"))
            return None
        messages += self._protocol.accepted(reply)
        return run.recorder.answered(settled.text, choice)

    def _ended(self, run: Run) -> Decision | None:
        """Return how a run ends that cannot continue; None for one that can."""
        recorder, most = run.recorder, self._settings.max_steps
        if run.failures >= self._settings.max_parse_failures:
            return recorder.failed(given_up(run.failures, run.problem))
        if recorder.steps >= most:
            return recorder.ended(Ending.STEP_LIMIT, f"No decision within {most} replies.")
        reads_no_more = self._recipe.reads_once and _has_read(recorder)
        if recorder.over_budget(reads=not reads_no_more) is None:
            return None
        return self._close(run)

    def _close(self, run: Run) -> Decision:
        """Ask for the decision by what has been seen, as its budget is spent."""
        recorder, messages = run.recorder, run.messages["agent"]
        told = any(isinstance(message, HumanMessage) for message in messages)
        if recorder.close_by_budget() and told:
            form = run.question.answer_form
            words = out_of_budget(self._protocol.name, recorder.spent or "", form)
            messages.append(HumanMessage(words))
            self._turn(run, "agent")
            if run.reply is not None and run.reply.answer is not None:
                decision = self._answer(run, run.reply)
                if decision is not None:
                    return decision
            else:
                run.note_failure("agent")
        return last_stated(run)


def _has_read(recorder: Recorder) -> bool:
    """Whether anything was asked; what a person did not let run was not."""
    return any(found.error != NotApprovedError.__name__ for found in recorder.evidence)


def _report(reply: Reply, results: list[ToolResult]) -> str:
    """Tell a model that only plans what was done and what came of it."""
    thought = [f"Thought: {reply.thought}"] if reply.thought else []
    done = [
        f"Action: {request.tool}\nAction Input: {request.text}\nObservation: {text}"
        for request, text in results
    ]
    return "\n".join([*thought, *done])
