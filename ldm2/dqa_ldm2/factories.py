"""The factories for the entry points. A decider is imported when its factory is called.

To create a decider with an open memory::

    method("mine", "", partial(Ldm2Decider, memory=memory), Ldm2Settings)
"""

from __future__ import annotations

from functools import partial

from dqa.deciders.method import method
from dqa_ldm2.settings import ExampleSettings, Ldm2Settings, RefinedSettings, TrialSettings

_own = partial(method, family="ldm2")

LDM2 = _own(
    *("ldm2", "imitates a memory's actions in similar situations (LDM2)"),
    *("dqa_ldm2.deciders:Ldm2Decider", Ldm2Settings),
)
LDM2_REFINED = _own(
    *("ldm2-refined", "like ldm2, with a refined memory (LDM2, section 3.3)"),
    *("dqa_ldm2.deciders:Ldm2Decider", RefinedSettings),
    apart=("memory",),
)
STANDARD = _own(
    *("standard", "imitates fixed examples of whole processes (LDM2, section 4.2)"),
    *("dqa_ldm2.deciders:Standard", ExampleSettings),
)
STANDARD_RETRIEVED = _own(
    *("standard-retrieved", "like standard, with the examples most similar to the goal"),
    *("dqa_ldm2.deciders:StandardRetrieved", ExampleSettings),
)
REACT = _own(
    *("react", "like standard, but thinks before it acts (LDM2, section 4.2)"),
    *("dqa_ldm2.deciders:ReAct", ExampleSettings),
)
REFLEXION_TRIALS = _own(
    *("reflexion-trials", "like react, but reflects on a failed episode and plays it again"),
    *("dqa_ldm2.deciders:Reflexion", TrialSettings),
)
