"""Named sets about this package's scenarios, each a folder; see `dqa.loaders.sets`."""

from importlib.resources import files

HARD_1 = files(__package__) / "hard_1"
