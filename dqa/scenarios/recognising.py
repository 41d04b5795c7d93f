"""Recognises the scenario and the target of a question by its text."""

from __future__ import annotations

import re
from string import Template

from dqa.core.errors import UsageError
from dqa.scenarios.base import Scenario
from dqa.scenarios.catalogue import scenarios


def target_in(scenario: Scenario, text: str) -> dict[str, str] | None:
    """Return the target of a scenario's question by its text; None for another text.

    Parameters
    ----------
    scenario
        The scenario.
    text
        The question, with or without the form of its answer.
    """
    asked = _pattern(scenario.template)
    form = rf"(?:\s+{re.escape(scenario.answer_form)})?" if scenario.answer_form else ""
    found = re.fullmatch(rf"\s*{asked}{form}\s*", text, re.DOTALL)
    release = scenario.document.release
    wordings = iter(release.wordings if release is not None else ())
    while found is None and (wording := next(wordings, None)) is not None:
        found = re.search(wording, text, re.DOTALL)
    return None if found is None else found.groupdict()


def asked_scenario(text: str) -> tuple[Scenario, dict[str, str]]:
    """Return the scenario of a question by its text, and the question's target.

    Raises
    ------
    UsageError
        No known scenario has such a question.
    """
    for scenario in scenarios():
        target = target_in(scenario, text)
        if target is not None:
            return scenario, target
    raise UsageError(
        "A scripted model that goes by a scenario's statements met a question that is no "
        f"scenario's: '{text[:80]}'. Ask with --scenario DIR, in the words of its question.txt."
    )


def _pattern(template: Template) -> str:
    """Return a template as a regular expression with a group for each parameter."""
    parts: list[str] = []
    named: set[str] = set()
    end = 0
    for place in template.pattern.finditer(template.template):
        parts.append(re.escape(template.template[end : place.start()]))
        end = place.end()
        name = place["named"] or place["braced"]
        if name is None:
            parts.append(re.escape("$"))
        else:
            parts.append(f"(?P={name})" if name in named else f"(?P<{name}>.+?)")
            named.add(name)
    return "".join([*parts, re.escape(template.template[end:])])
