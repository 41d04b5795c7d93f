// Paths of any length.
MATCH p = (a)-[*]-(b) RETURN count(p);
MATCH p = (a:Goods)-[*]-(b:Goods) RETURN length(p) AS l, count(*) ORDER BY l DESC;
MATCH p = (a)-[*]-(b) RETURN max(length(p)), collect(nodes(p));
MATCH p = (a)-[*]-(a) RETURN count(p);
MATCH (a)-[r*]-(b) WHERE all(x IN r WHERE x.level >= 0) RETURN count(*);
MATCH (a)-[*..40]-(b)-[*..40]-(c) RETURN count(*);
MATCH p = ((a)--(b)){1,40} RETURN count(p);
MATCH p = (a:Goods) ((x)-[r]-(y) WHERE r.level >= 0)+ (b:Building) RETURN count(p);
MATCH (a)--(b)--(c)--(d)--(e)--(f)--(g)--(h)--(i)--(j)--(k)--(l) RETURN count(*);
MATCH p = (a)-[*]-(b) RETURN reduce(s = 0, x IN relationships(p) | s + x.level) AS cost ORDER BY cost DESC LIMIT 1;
