"""LDM2: decisions by memory (Wang et al., 2023).

A memory is formed from trajectories (`build_memory`), read by the deciders, and refined by
exploring (`refine_memory`). Anything that can start again can be explored; see `Explorable`.
"""

from __future__ import annotations

import dqa

__getattr__, __dir__ = dqa.lazy_names(__name__, __file__)
