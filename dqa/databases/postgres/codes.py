"""What PostgreSQL's codes mean: an SQLSTATE of five characters, the first two its class.

https://www.postgresql.org/docs/current/errcodes-appendix.html
"""

from __future__ import annotations

from dqa.databases.faults import Fault

CODES: dict[str, Fault] = {
    "08P01": Fault.UNCLEAR,  # protocol_violation: what has parameters ($1), to which none is given
    "25001": Fault.REFUSED,  # what must not be in a transaction is no query
    "25006": Fault.REFUSED,  # read_only_sql_transaction
    "25P01": Fault.OURS,  # no_active_sql_transaction
    "25P02": Fault.OURS,  # in_failed_sql_transaction
    "25P03": Fault.CONNECTION,  # idle_in_transaction_session_timeout
    "25P04": Fault.TIME,  # transaction_timeout
    "42501": Fault.REFUSED,  # insufficient_privilege
    "42601": Fault.NOT_UNDERSTOOD,  # syntax_error
    "42703": Fault.UNKNOWN_NAME,  # undefined_column
    "42704": Fault.NOT_UNDERSTOOD,  # undefined_object, as a type
    "42883": Fault.NOT_UNDERSTOOD,  # undefined_function
    "42P01": Fault.UNKNOWN_NAME,  # undefined_table
    "42P02": Fault.NOT_UNDERSTOOD,  # undefined_parameter
    "53200": Fault.MEMORY,  # out_of_memory
    "53300": Fault.SERVER,  # too_many_connections
    "53400": Fault.STATEMENT,  # configuration_limit_exceeded, as temp_file_limit
    "55P03": Fault.PASSING,  # lock_not_available
    "57014": Fault.TIME,  # query_canceled
    "57P01": Fault.CONNECTION,  # admin_shutdown
    "57P02": Fault.CONNECTION,  # crash_shutdown
    "57P03": Fault.CONNECTION,  # cannot_connect_now
    "57P04": Fault.SERVER,  # database_dropped
    "57P05": Fault.CONNECTION,  # idle_session_timeout
    "58030": Fault.SERVER,  # io_error
    "HV001": Fault.MEMORY,  # fdw_out_of_memory
    "XX001": Fault.SERVER,  # data_corrupted
    "XX002": Fault.SERVER,  # index_corrupted
}
"""Codes that mean something else than their class does."""

CLASSES: dict[str, Fault] = {
    **dict.fromkeys(
        (
            *("00", "01", "02", "03", "09", "0B", "0F", "0L", "0P", "0Z", "10"),
            *("20", "21", "22", "23", "24", "25", "26", "27", "2B", "2D", "2F", "34", "38", "39"),
            *("3B", "3D", "3F", "42", "44", "54", "55", "P0"),
        ),
        Fault.STATEMENT,
    ),
    "08": Fault.CONNECTION,
    "0A": Fault.NOT_UNDERSTOOD,  # feature_not_supported
    "28": Fault.ACCESS,
    "40": Fault.PASSING,  # deadlocks, and what a standby has to end to keep up
    "53": Fault.UNCLEAR,  # no room left, which a statement's temporary files may have taken
    "57": Fault.UNCLEAR,
    "58": Fault.UNCLEAR,  # errors of the system, as a file that is not there
    "72": Fault.PASSING,  # snapshot_too_old
    "F0": Fault.SERVER,
    "HV": Fault.UNCLEAR,  # a foreign server's
    "XX": Fault.UNCLEAR,  # internal_error: often only the arguments of a function
}


def fault_of(code: str) -> Fault:
    """Return what a code means."""
    return CODES.get(code) or CLASSES.get(code[:2], Fault.UNCLEAR)
