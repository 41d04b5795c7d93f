SELECT opened, cost FROM plant WHERE opened IN ($candidates) ORDER BY opened;
