"""LDM2 on questions whose database is asked in steps: past decisions as memory."""
