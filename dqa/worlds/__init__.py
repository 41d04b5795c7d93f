"""What all worlds share: how they are found and made, players that are programs, the history."""
