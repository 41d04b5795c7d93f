"""What opening a database imports late: a fork server imports it early."""

import numpy as np

__all__ = ["np"]
