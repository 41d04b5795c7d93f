"""The last module that a fork server imports.

It exempts all imported objects from garbage collection, because a collection in a forked process
would copy the memory of each object, and a collection at exit would visit each object for nothing.
"""

import gc

gc.freeze()
