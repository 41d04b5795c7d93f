"""The last module that a fork server imports.

It exempts all imported objects from garbage collection. In a forked process, a collection would
copy the memory of each object. At exit, a collection would visit each object without need.
"""

import gc

gc.freeze()
