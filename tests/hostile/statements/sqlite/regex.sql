-- Patterns that backtrack, or that are applied to long texts.
SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab' REGEXP '^(a+)+$';
SELECT printf('%.*c', 60, 'a') || '!' REGEXP '^(a|aa)+$';
SELECT printf('%.*c', 50, 'a') || '!' REGEXP '^(a|a?)+$';
SELECT printf('%.*c', 40, 'x') REGEXP '(x+x+)+y';
SELECT count(*) FROM goods WHERE goods_name || printf('%.*c', 40, 'z') REGEXP '(z*)*y';
SELECT printf('%.*c', 30000, ' ') || 'x' REGEXP '\s+\s+\s+$';
SELECT id FROM building WHERE printf('%.*c', 45, '0') || 'x' REGEXP '^(\d+)*$';
SELECT printf('%.*c', 15000000, 'a') REGEXP '(.*)(.*)(.*)(.*)b';
SELECT count(*) FROM supply a, supply b WHERE printf('%.*c', 3000, 'a') REGEXP '.*.*.*b';
