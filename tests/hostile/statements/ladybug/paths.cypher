// Paths of any length.
MATCH p = (a)-[*1..30]-(b) RETURN count(p);
MATCH p = (a:Goods)-[*1..20]-(b:Goods) RETURN length(p), count(*);
MATCH p = (a)-[*1..30]-(a) RETURN count(*);
MATCH p = (a)-[* TRAIL 1..30]-(b) RETURN count(p);
MATCH p = (a)-[* ACYCLIC 1..30]-(b) RETURN max(length(p));
MATCH (a)-[e*1..20]-(b)-[f*1..20]-(c) RETURN count(*);
MATCH (a)--(b)--(c)--(d)--(e)--(f)--(g)--(h)--(i) RETURN count(*);
MATCH p = (a)-[*1..30]-(b) RETURN collect(properties(nodes(p), 'name'));
