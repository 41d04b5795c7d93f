"""Read the plan in a labelled reply, or the reply's verdict on the current plan.

A verdict is a whole new plan, or a word that keeps the current plan. Models trained on PlanRAG's
format (appendix A.6.2) write ``Y`` or ``N``, followed by the line ``Plan:``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dqa.core.errors import UnparsableReplyError
from dqa.core.plans import STEP_NUMBER, list_in, steps_of
from dqa_planrag.reply import Reply

_KEPT = re.compile(
    r"""[\W_]*(?:keep|kept|no|none|n/a|not\ (?:needed|necessary|required)|unchanged
    |no\ (?:change|changes|re-?plan(?:ning)?)(?:\ (?:is|are)\ needed|\ needed)?
    |(?:keep\ )?(?:the\ )?(?:current\ )?plan(?:\ (?:still\ )?(?:serves|holds|stands|works))?
    |keep\ (?:it|going))[\W_]*""",
    re.VERBOSE | re.IGNORECASE,
)
"""A verdict that contains only words that keep the plan."""
_KEEPING = re.compile(
    r"""(?<!\bnot\ )(?<!\blonger\ )\b(?:keep|kept|keeping|unchanged
    |as\ (?:it\ is|is|planned)|continue|proceed|go\ on|still
    |no\ (?:need|change|changes|re-?plan\w*|new\ plan)|not\ (?:needed|necessary|required)
    |remains?|stands|holds|serves|valid|sufficient|fine)\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""Words that keep the plan if the verdict has no list of steps."""
_WORD = re.compile(r"[\W_]*(?:(?P<yes>y(?:es)?)|no?)(?![\w-])", re.IGNORECASE)
"""The first word of a verdict: "yes" replaces the plan, and "no" keeps it."""
_PLAN = re.compile(r"[\W_]*plan[*_ ]*:", re.IGNORECASE)
"""The label of the plan that a reply repeats after "no"."""
_LABELLED = re.compile(r"plan[*_ ]*:[\W_]*\Z", re.IGNORECASE)
"""The label ``Plan:`` at the end of the text before a list."""


def planning_in(sections: Mapping[str, str]) -> Reply:
    """Return a `Reply` with only the plan and the verdict.

    Parameters
    ----------
    sections
        The texts of a reply by label: ``plan``, ``replan``, and ``new plan`` for a plan after a
        verdict.

    Raises
    ------
    UnparsableReplyError
        The verdict neither keeps the plan nor contains a new plan.
    """
    plan, behind = sections.get("plan") or None, sections.get("new plan") or None
    verdict = sections.get("replan")
    if verdict is None:
        return Reply(plan=plan)
    word = _WORD.match(verdict)
    if word is not None and not word["yes"] and _is_no(verdict, word.end(), behind):
        return Reply(plan=plan or behind, keeps=True)
    if word is not None and word["yes"]:
        return Reply(plan=plan, replan=_replaced(verdict[word.end() :], behind, plan))
    return Reply(plan=plan or behind, replan=_replan(verdict, behind))


def _is_no(verdict: str, end: int, behind: str | None) -> bool:
    """Return whether the "no" that ends at `end` is the verdict, and not the start of a sentence.

    A "no" is the verdict if it is alone on its line, or if the line ``Plan:`` follows. A "no"
    before punctuation, as in "no, because ...", is the verdict only if the text has no list of
    steps. Before a list, "no, ..." may introduce a new plan.
    """
    rest = verdict[end:]
    line, _, _ = rest.partition("\n")
    if not line.strip(" .,;:*_\"'`()[]") or _PLAN.match(rest):
        return True
    reasoned = rest.lstrip(" *_\"'`)]")[:1] in {*".,;:(-\u2013\u2014"}
    return list_in(verdict) is None and (behind is not None or reasoned)


def _replaced(verdict: str, behind: str | None, plan: str | None) -> str | None:
    """Return the new plan for a verdict "yes"; None if the current plan stays.

    The new plan is the list in the verdict. Without a list, it is the text after the verdict
    (`behind`), or else the text before the verdict (`plan`).
    """
    listed = list_in(verdict)
    if listed is None and behind is None and len(steps_of(verdict.strip())) > 1:
        listed = None if _KEEPING.search(verdict) else verdict.strip()
    found = listed or behind or plan
    if found is not None and _KEPT.fullmatch(found):
        return None
    if found is None and not _KEEPING.search(verdict):
        raise UnparsableReplyError(
            "The Re-plan says that the plan changes, but does not contain a new plan. Write the "
            "whole new plan as a numbered list after 'Re-plan:', or only the word 'keep'."
        )
    return found


def _replan(verdict: str, behind: str | None) -> str | None:
    """Return the new plan in a verdict; None if the verdict keeps the current plan."""
    listed = list_in(verdict)
    if listed is not None:
        before = verdict.removesuffix(listed)
        # Numbers within a line may number the reasons to keep the plan.
        counts = STEP_NUMBER.search(verdict) is None and not _LABELLED.search(before)
        if counts and _KEEPING.search(before):
            return None
        # After "keep", a list may still be new: the loop compares it with the current plan.
        return listed if _KEPT.fullmatch(before) else verdict
    if not verdict or behind or _KEPT.fullmatch(verdict) or _KEEPING.search(verdict):
        return None
    raise UnparsableReplyError(
        "The Re-plan neither keeps the plan nor contains a new plan. Write either only the word "
        "'keep', or the whole new plan as a numbered list."
    )
