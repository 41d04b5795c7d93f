"""What worlds that are games share: OpenSpiel as their referee, betting, events, the history."""
