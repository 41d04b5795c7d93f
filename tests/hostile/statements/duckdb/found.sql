-- untranslated: OverflowError: Python int too large to convert to C int
SELECT subtract(INTERVAL '-178956970 years', INTERVAL 0 SECONDS);
-- untranslated: UnicodeDecodeError: 'utf-8' codec can't decode byte 0xef in position 47: unexpected end of data
SELECT str_split_regex('2024-01-01', '((0,0),(1,1))', 'ﷺ');
-- untranslated: OverflowError: Python int too large to convert to C int
SELECT list(INTERVAL '-178956970 years') OVER (ORDER BY code) FROM goods LIMIT 5;
-- untranslated: OverflowError: Python int too large to convert to C int
SELECT list_value(to_months(2147483647));
-- untranslated: UnicodeDecodeError: 'utf-8' codec can't decode byte 0xc3 in position 78: invalid continuation byte
SELECT ('1010'::BIT) <=> ('é');
-- untranslated: OverflowError: days=-2147483648; must have magnitude <= 999999999
SELECT to_days(-2147483648);
