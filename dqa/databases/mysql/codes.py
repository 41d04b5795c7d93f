"""What MySQL's and MariaDB's numbers mean.

Below 1000 they are those of the server's own libraries and of the operating system, from 2000 to
2999 the client's, and else the server's: most of them tell what is wrong with a statement, and the
others are here. https://mariadb.com/kb/en/mariadb-error-code-reference/ and
https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html
"""

from __future__ import annotations

from dqa.databases.faults import Fault

_NUMBERS: dict[Fault, tuple[int, ...]] = {
    Fault.NOT_UNDERSTOOD: (1064, 1128, 1149, 1305, 1630),  # syntax; no such function
    Fault.UNKNOWN_NAME: (1054, 1109, 1146),
    Fault.REFUSED: (
        *(1044, 1142, 1143, 1227, 1345, 1370),  # no right to it
        *(1207, 1223, 1290, 1792, 1836, 1874),  # it can only be read
    ),
    Fault.TIME: (1317, 1969, 3024),
    Fault.MEMORY: (5, 1037, 1038, 1041, 1257, 2008, 3015, 3044, 3170),
    Fault.UNCLEAR: (
        *(1004, 1005, 1016, 1017, 1023, 1024, 1105, 1296, 1297, 1815),  # files; what they met
        *(1021, 1026, 1028, 1030, 1114),  # no room left, which its temporary tables may have taken
        *(1429, 1430, 1431),  # a foreign server's
    ),
    Fault.PASSING: (1020, 1205, 1213, 1412, 1637, 1689, 3572),  # locks, and what somebody changes
    Fault.CONNECTION: (
        *(1053, 1077, 1079, 1080, 1152, 1184, 1927, 3032, 3168, 3169, 4031),  # ended
        *(1154, 1155, 1156, 1157, 1158, 1159, 1160, 1161, 1835),  # broken
        *(2000, 2006, 2013, 2014, 2018, 2026, 2027, 2048, 2050, 2055),
    ),
    Fault.SERVER: (
        *(1033, 1034, 1035, 1194, 1195, 1244, 1457, 1459, 1547, 1548, 1712, 1728, 1805, 1812),
        *(1814, 1817, 1877, 1932, 1983),  # what it stores is damaged
        *(1040, 1042, 1043, 1081, 1129, 1135, 1203),  # it takes no more connections
        *(2001, 2002, 2003, 2004, 2005, 2007, 2009, 2012, 2015, 2016, 2017, 2047, 2070),
    ),
    Fault.ACCESS: (
        *(1045, 1130, 1226, 1251, 1275, 1524, 1698, 1820, 1862, 3118, 4151),
        *(2049, 2059, 2061),
    ),
    Fault.STATEMENT: (2020, 2032),  # too large for a packet; cut
}
FAULTS: dict[int, Fault] = {
    number: fault for fault, numbers in _NUMBERS.items() for number in numbers
}


_CLIENT, _SERVER = range(2000, 3000), range(1000, 10_000)


def fault_of(code: int) -> Fault:
    """Return what a number means."""
    if code in FAULTS:
        return FAULTS[code]
    if code in _CLIENT:
        return Fault.OURS
    return Fault.STATEMENT if code in _SERVER else Fault.UNCLEAR
