"""Writers: a situation into a database, in bulk.

A writer knows situations and one driver and nothing of the query layer, whose backends call it
when they load. It writes in one transaction into a database that is new and its caller's own.
"""
