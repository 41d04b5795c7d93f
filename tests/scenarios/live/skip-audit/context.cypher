MATCH (n:LivePlant) WHERE n.opened >= date($since) AND n.cost >= $least
RETURN n.opened AS opened, n.cost AS cost ORDER BY opened;
