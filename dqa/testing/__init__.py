"""What teams test their own decisions with: servers in throw-away containers."""
