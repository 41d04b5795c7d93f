MATCH (n:LivePlant)
WHERE n.region = $region AND n.name IN [$candidates]
RETURN n.name AS name, n.revenue AS revenue, n.cost AS cost, n.lines AS lines
ORDER BY name;
