"""LDM2: decisions that imitate a memory of past decisions (Wang et al., 2023).

`build_memory` forms a memory from trajectories. The deciders read the memory. `refine_memory`
improves the memory by exploring goals. Any goal that can be started again can be explored; see
`Explorable`.
"""

from __future__ import annotations

import dqa

__getattr__, __dir__ = dqa.lazy_names(__name__, __file__)
