"""What commands and Python callers do: one module a job, and `dqa` itself lists them all."""
