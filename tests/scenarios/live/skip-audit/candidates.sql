SELECT opened FROM plant WHERE opened >= $since AND cost >= $least ORDER BY opened;
