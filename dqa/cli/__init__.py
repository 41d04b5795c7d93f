"""The command line of dqa."""
