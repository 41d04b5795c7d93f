"""Shared parts of game worlds: OpenSpiel as the referee, betting, events and the history."""
