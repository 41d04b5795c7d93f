SELECT p.*
FROM plant p
WHERE p.region = $region
ORDER BY p.plant_id;
