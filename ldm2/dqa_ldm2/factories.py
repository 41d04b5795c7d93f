"""The factories that the entry points name; a decider is imported when it is made.

A decider with an open memory of your own::

    method("mine", "", partial(Ldm2Decider, memory=memory), Ldm2Settings)
"""

from __future__ import annotations

from functools import partial

from dqa.deciders.method import method
from dqa_ldm2.settings import (
    ExampleSettings,
    Ldm2Settings,
    RefinedSettings,
    TrialSettings,
)

_own = partial(method, family="ldm2")

LDM2 = _own(
    *("ldm2", "imitates a memory's actions in similar situations (LDM2)"),
    *("dqa_ldm2.deciders:Ldm2Decider", Ldm2Settings),
)
LDM2_REFINED = _own(
    *("ldm2-refined", "as ldm2, with a refined memory (LDM2, section 3.3)"),
    *("dqa_ldm2.deciders:Ldm2Decider", RefinedSettings),
    apart=("memory",),
)
STANDARD = _own(
    *("standard", "acts as fixed whole examples show (LDM2, section 4.2)"),
    *("dqa_ldm2.deciders:Standard", ExampleSettings),
)
STANDARD_RETRIEVED = _own(
    *("standard-retrieved", "as standard, with the examples that are most like the goal"),
    *("dqa_ldm2.deciders:StandardRetrieved", ExampleSettings),
)
REACT = _own(
    *("react", "thinks, then acts, as fixed whole examples show (LDM2, section 4.2)"),
    *("dqa_ldm2.deciders:ReAct", ExampleSettings),
)
REFLEXION_TRIALS = _own(
    *("reflexion-trials", "as react, and plays an episode again after a reflection"),
    *("dqa_ldm2.deciders:Reflexion", TrialSettings),
)
