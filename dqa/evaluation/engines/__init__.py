"""Where the work of a run is done: in this process, or on a cluster."""
