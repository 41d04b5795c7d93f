// One function of texts takes for ever, or gigabytes.
UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN max(size(replace(toString(a * b), '1', '22')));
