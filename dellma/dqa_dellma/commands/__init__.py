"""The commands ``dqa dellma ...``."""
