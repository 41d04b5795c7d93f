MATCH (n:LivePlant) WHERE n.opened >= date($since)
RETURN n.opened AS opened, n.cost / 100.0 AS saving;
