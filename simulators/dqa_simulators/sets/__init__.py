"""Named question sets of this package's scenarios. Each set is a folder (`dqa.loaders.sets`)."""

from importlib.resources import files

HARD_1 = files(__package__) / "hard_1"
