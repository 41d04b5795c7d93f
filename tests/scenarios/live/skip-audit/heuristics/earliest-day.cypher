MATCH (n:LivePlant) WHERE n.opened >= date($since) AND n.cost >= $least
RETURN n.opened AS day ORDER BY day LIMIT 1;
