SELECT opened, cost / 100.0 AS saving FROM plant WHERE opened >= $since;
