#!/bin/sh
# Write the settings, set the first password, then run the server. NEO4J_AUTH is neo4j/PASSWORD or
# none. As in the official image, variables such as NEO4J_server_memory_pagecache_size are settings.
set -eu

home=/var/lib/neo4j
conf="$home/conf"

as_server() { setpriv --reuid=neo4j --regid=neo4j --init-groups "$@"; }

settings() {
  cat << 'DEFAULTS'
server.default_listen_address=0.0.0.0
server.directories.data=/data
server.https.enabled=false
DEFAULTS
  if [ "${NEO4J_AUTH:-}" = none ]; then echo 'dbms.security.auth_enabled=false'; fi
  # NEO4J_a_b__c=x is the setting a.b_c=x: _ stands for a dot, and __ stands for an underscore.
  env | sed -n 's/^NEO4J_\([a-z]\)/\1/p' | while IFS='=' read -r name value; do
    printf '%s=%s\n' "$(printf %s "$name" | sed 's/__/\n/g; s/_/./g; s/\n/_/g')" "$value"
  done
}

if [ "${1:-neo4j}" != neo4j ]; then exec "$@"; fi

mkdir -p "$conf" "$home/logs" "$home/import" /data
settings > "$conf/neo4j.conf"
chown -R neo4j:neo4j "$home"
chown neo4j:neo4j /data
export NEO4J_HOME="$home" NEO4J_CONF="$conf"

case "${NEO4J_AUTH:-}" in
  neo4j/*)
    # Read the password from a file, because anyone can list the arguments of processes.
    umask 077
    printf 'dbms\nset-initial-password\n%s\n' "${NEO4J_AUTH#neo4j/}" > "$home/arguments"
    chown neo4j:neo4j "$home/arguments"
    if [ ! -e /data/dbms/auth.ini ] && [ ! -e /data/databases/system ]; then
      as_server java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp '/opt/neo4j/lib/*' org.neo4j.cli.AdminTool "@$home/arguments" >/dev/null
    fi
    rm "$home/arguments"
    ;;
  none) ;;
  *) echo "NEO4J_AUTH must be neo4j/PASSWORD or none" >&2; exit 1 ;;
esac

cd "$home"
exec setpriv --reuid=neo4j --regid=neo4j --init-groups java -XX:TieredStopAtLevel=1 \
  -XX:+UseParallelGC -XX:GCTimeLimit=60 -XX:GCHeapFreeLimit=10 \
  -cp '/opt/neo4j/lib/*' \
  --add-opens=java.base/java.nio=ALL-UNNAMED \
  --add-opens=java.base/java.io=ALL-UNNAMED \
  --add-opens=java.base/sun.nio.ch=ALL-UNNAMED \
  --add-opens=java.base/java.util.concurrent=ALL-UNNAMED \
  "-Xms${NEO4J_server_memory_heap_initial__size:-256m}" \
  "-Xmx${NEO4J_server_memory_heap_max__size:-512m}" \
  -Dfile.encoding=UTF-8 \
  org.neo4j.server.CommunityEntryPoint --home-dir="$home" --config-dir="$conf" --console-mode
