-- Refused, and not with an exception of the parser's: it stumbles over these, in translation too.
SELECT year();
SELECT xor();
SELECT xor(1);
SELECT xor(1, 2, 3);
SELECT month(), day(), hour(), date(), quarter(), week();
SELECT min(), max(), sum(), if(), cast();
SELECT extract(), substring(), trim(), position();
