"""Statistics over results: functions that return typed records. See ``docs/statistics.md``."""
