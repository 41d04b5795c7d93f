"""The words of Cypher: which are keywords, and what may be called; all of it is data.

A function is listed if it depends on nothing but its arguments, the clock, chance, and the graph
elements it is given. A procedure is listed if it only describes the database or searches an index.
Sources: the Cypher manual for Neo4j 5, ``SHOW FUNCTIONS`` and ``SHOW PROCEDURES`` of Neo4j 5.26,
and ``CALL show_functions()`` of LadybugDB 0.22.
"""

from __future__ import annotations

from collections.abc import Mapping


def words(text: str) -> frozenset[str]:
    """Return the words of a text, which is easier to read than a list of them."""
    return frozenset(text.split())


CLAUSES = words("MATCH OPTIONAL WITH UNWIND RETURN CALL ORDER SKIP OFFSET LIMIT FINISH WHERE")
"""Keywords that begin a clause that reads, or a part of one."""
EFFECTS = words("""
    ALTER ANALYZE ATTACH BEGIN CHECKPOINT COMMENT COMMIT COPY CREATE DEALLOCATE DELETE DENY DETACH
    DROP DRYRUN ENABLE EXPORT FOREACH GRANT IMPORT INSERT INSTALL LOAD MERGE NODETACH REALLOCATE
    REMOVE RENAME REVOKE ROLLBACK SET START STOP TERMINATE UNINSTALL UPDATE USE USING
    """)
"""Keywords that begin something that changes or opens something: refused by name."""
SHOWN = words("""
    INDEX INDEXES CONSTRAINT CONSTRAINTS FUNCTION FUNCTIONS PROCEDURE PROCEDURES DATABASE DATABASES
    """)
"""What SHOW may show: nothing of users, privileges, settings, servers or others' statements."""
SHOWN_KINDS = words("""
    ALL BTREE BUILT DEFAULT EXIST EXISTENCE EXISTS FULLTEXT HOME IN KEY LOOKUP NODE POINT PROPERTY
    RANGE REL RELATIONSHIP TEXT TYPE UNIQUE UNIQUENESS VECTOR
    """)
"""What may stand between SHOW and one of these."""
TYPES = words("""
    ANY ARRAY BOOL BOOLEAN DATE DATETIME DURATION EDGE FLOAT INT INTEGER LIST LOCAL MAP NODE NOTHING
    NULL PATH PATHS POINT PROPERTY RELATIONSHIP SIGNED STRING TIME TIMESTAMP TIMEZONE VALUE VARCHAR
    VERTEX ZONE ZONED
    """)
"""Words of types, after ``IS ::``."""
_OTHERS = words("""
    ACYCLIC ALLSHORTESTPATHS AND AS ASC ASCENDING BINDINGS BOTH BRIEF BY CASE CAST COLLECT CONTAINS
    COUNT CURRENT CYPHER DEFINED DESC DESCENDING DIFFERENT DISTINCT ELEMENT ELEMENTS ELSE END ENDS
    EXECUTABLE EXPLAIN FROM GRAPH GROUP GROUPS HINT IS JOIN LEADING LOGICAL MULTI_JOIN NFC NFD NFKC
    NFKD NONE NORMALIZED NOT ON OR OUTPUT PROFILE REDUCE RELATIONSHIPS REPEATABLE SCAN SEEK SHORTEST
    SHORTESTPATH SHOW SINGLE STARTS THEN TRAIL TRAILING TRANSACTION TRANSACTIONS TRIM TYPED UNION
    USER VERBOSE WHEN WITHOUT WSHORTEST XOR YIELD
    """)

KEYWORDS: Mapping[str, str] = {
    word: word for word in CLAUSES | EFFECTS | SHOWN | SHOWN_KINDS | TYPES | _OTHERS
}
"""Every word that means something somewhere; all of them are names elsewhere."""
NAMES = frozenset({*KEYWORDS, "`"})
"""Keys of tokens that can be names."""

_COMMON_FUNCTIONS = words("""
abs acos asin atan atan2 avg ceil coalesce collect cos cot count degrees exists floor id keys labels
left length log log10 lower ltrim max min nodes nullif pi properties radians range relationships
replace reverse right round rtrim sign sin size split sqrt substring sum tail tan tolower toupper
trim upper date duration
""")
FUNCTIONS: Mapping[str, frozenset[str]] = {
    "neo4j": _COMMON_FUNCTIONS
    | words("""
            btrim char_length character_length date.realtime date.statement date.transaction
            date.truncate datetime datetime.fromepoch datetime.fromepochmillis datetime.realtime
            datetime.statement datetime.transaction datetime.truncate duration.between
            duration.indays duration.inmonths duration.inseconds e elementid endnode exp haversin
            head isempty isnan last localdatetime localdatetime.realtime localdatetime.statement
            localdatetime.transaction localdatetime.truncate localtime localtime.realtime
            localtime.statement localtime.transaction localtime.truncate normalize percentilecont
            percentiledisc point point.distance point.withinbbox rand randomuuid startnode stdev
            stdevp time time.realtime time.statement time.transaction time.truncate timestamp
            toboolean tobooleanlist tobooleanornull tofloat tofloatlist tofloatornull tointeger
            tointegerlist tointegerornull tostring tostringlist tostringornull type valuetype
            vector.similarity.cosine vector.similarity.euclidean
            """),
    "ladybug": _COMMON_FUNCTIONS
    | words("""
            array_append array_cat array_concat array_contains array_cosine_similarity
            array_cross_product array_distance array_dot_product array_extract array_has
            array_indexof array_inner_product array_position array_prepend array_push_back
            array_push_front array_slice array_squared_distance array_value bitshift_left
            bitshift_right bitwise_and bitwise_or bitwise_xor blob cardinality cast cbrt ceiling
            century concat concat_ws constant_or_null contains cost count_if count_star current_date
            current_timestamp date_part date_trunc datepart datetrunc dayname decode
            element_at encode end_node ends_with epoch_ms equals even factorial gamma
            gen_random_uuid greater_than greater_than_equals greatest hash histogram ifnull initcap
            internal_id interval is_acyclic is_trail label last_day lcase least less_than
            less_than_equals levenshtein lgamma list_any_value list_append list_cat list_concat
            list_contains list_creation list_distinct list_element list_extract list_filter list_has
            list_has_all list_has_any list_indexof list_max list_min list_position list_prepend
            list_product list_reduce list_reverse list_reverse_sort list_slice list_sort list_sum
            list_to_string list_transform list_unique ln log2 lpad make_date map map_extract
            map_keys map_values md5 monthname negate not_equals octet_length offset percentilecont
            percentiledisc pow power prefix random regexp_extract regexp_extract_all
            regexp_full_match regexp_matches regexp_replace regexp_split_to_array rels repeat rowid
            rpad sha256 start_node starts_with str_split string string_split string_to_array
            struct_extract struct_pack substr suffix time_bucket timestamp to_blob to_bool to_date
            to_days to_double to_epoch_ms to_float to_hours to_int128 to_int16 to_int32 to_int64
            to_int8 to_interval to_microseconds to_milliseconds to_minutes to_months to_seconds
            to_serial to_string to_timestamp to_uint128 to_uint16 to_uint32 to_uint64 to_uint8
            to_uuid to_years typeof ucase union_extract union_tag union_value uuid
            """),
}
"""Functions, by dialect, in small letters."""

PROCEDURES: Mapping[str, frozenset[str]] = {
    "neo4j": words("""
        db.constraints db.index.fulltext.listavailableanalyzers db.index.fulltext.querynodes
        db.index.fulltext.queryrelationships db.index.vector.querynodes
        db.index.vector.queryrelationships db.indexes db.info db.labels db.ping db.propertykeys
        db.relationshiptypes db.schema.nodetypeproperties db.schema.reltypeproperties
        db.schema.visualization dbms.components
        """),
    "ladybug": words("""
        bm_info catalog_version db_version disk_size_info projected_graph_info query_fts_index
        query_vector_index show_attached_databases show_connection show_functions show_graphs
        show_indexes show_loaded_extensions show_macros show_official_extensions
        show_projected_graphs show_sequences show_tables show_warnings stats_info storage_version
        table_info
        """),
}
"""Procedures, by dialect, in small letters."""
SEARCHES = words("""
    db.index.fulltext.querynodes db.index.fulltext.queryrelationships db.index.vector.querynodes
    db.index.vector.queryrelationships query_fts_index query_vector_index
    """)
"""Procedures whose results are nodes and relationships."""
STATIC = frozenset({"db.ping", "dbms.components"})
"""Procedures that tell nothing of what the database holds."""

TELLING = words("""
    count count_if elementid exists id isempty label labels length offset rowid size type typeof
    valuetype
    """)
"""Functions that say something of a graph element, but nothing of its properties."""
CARRYING = words("""
    coalesce collect end_node endnode head ifnull last list_append list_cat list_concat
    list_creation list_distinct list_element list_extract list_filter list_reverse list_slice max
    min nodes nullif relationships rels reverse start_node startnode tail
    """)
"""Functions whose result may hold the graph elements they are given."""
