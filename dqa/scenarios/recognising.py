"""Which scenario a question's text is of, and what it is about, read back from the text alone."""

from __future__ import annotations

import re
from string import Template

from dqa.core.errors import UsageError
from dqa.scenarios.base import Scenario
from dqa.scenarios.catalogue import scenarios


def target_in(scenario: Scenario, text: str) -> dict[str, str] | None:
    """Return the target that makes a scenario's question a text; None where none does.

    Parameters
    ----------
    scenario
        Whose ``question.txt`` it may be.
    text
        The question, with or without how it is to be answered.
    """
    asked = _pattern(scenario.template)
    form = rf"(?:\s+{re.escape(scenario.answer_form)})?" if scenario.answer_form else ""
    found = re.fullmatch(rf"\s*{asked}{form}\s*", text, re.DOTALL)
    return None if found is None else found.groupdict()


def asked_scenario(text: str) -> tuple[Scenario, dict[str, str]]:
    """Return the scenario that asks a question in these words, and the question's target.

    Raises
    ------
    UsageError
        No scenario that is known asks so.
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
