#!/bin/sh
# Create the data folder on the first start, then run the server. POSTGRES_PASSWORD must be set.
# POSTGRES_USER and POSTGRES_DB have the same meaning as in the official image.
set -eu

case "${1:-}" in "" | -*) set -- postgres "$@" ;; esac

as_server() { setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }

create() {
  user="${POSTGRES_USER:-postgres}"
  database="${POSTGRES_DB:-$user}"
  chown postgres:postgres "$PGDATA"
  umask 077
  printf '%s\n' "${POSTGRES_PASSWORD:?set the password of $user}" > /tmp/password
  chown postgres:postgres /tmp/password
  as_server initdb --username="$user" --pwfile=/tmp/password --auth=scram-sha-256 \
    --encoding=UTF8 --locale=C >/dev/null
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  # The data survive a crash of the server, but not a crash of the machine.
  printf '%s\n' "listen_addresses = '*'" 'fsync = off' 'full_page_writes = off' \
    >> "$PGDATA/postgresql.conf"
  if [ "$database" != postgres ]; then
    printf 'CREATE DATABASE "%s"\n' "$database" | as_server postgres --single postgres >/dev/null
  fi
}

if [ "$1" = postgres ] && [ ! -s "$PGDATA/PG_VERSION" ]; then create; fi
exec setpriv --reuid=postgres --regid=postgres --init-groups "$@"
