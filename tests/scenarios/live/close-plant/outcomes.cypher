MATCH (n:LivePlant) WHERE n.name IN [$candidates]
RETURN n.name AS name, (n.revenue - n.cost) / n.lines AS lost;
