"""The Placements scenario and world: two countries place merchants in turn."""
