// taken for an outage: DatabaseUnavailableError: Neo4j failed: Unsupported unit: halad_wares.
MATCH p = (n:Goods)-[r]-(m) WITH n, r, p, m LIMIT 3 RETURN date.truncate(n.name);
// taken for an outage: DatabaseUnavailableError: Neo4j failed: negative length.
RETURN right('101', -9223372036854775807);
