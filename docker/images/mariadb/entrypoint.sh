#!/bin/sh
# Create the data folder on the first start, then run the server. MYSQL_ROOT_PASSWORD must be set.
# MYSQL_DATABASE, MYSQL_USER, MYSQL_PASSWORD and /docker-entrypoint-initdb.d/*.sql have the same
# meaning as in the official images.
set -eu

data=/var/lib/mysql
case "${1:-}" in "" | -*) set -- mariadbd "$@" ;; esac

quoted() { printf "'%s'" "$(printf %s "$1" | sed "s/[\\\\']/\\\\&/g")"; }

statements() {
  printf 'CREATE USER root@"%%" IDENTIFIED BY %s;\n' "$(quoted "$MYSQL_ROOT_PASSWORD")"
  printf 'ALTER USER root@localhost IDENTIFIED BY %s;\n' "$(quoted "$MYSQL_ROOT_PASSWORD")"
  printf 'GRANT ALL PRIVILEGES ON *.* TO root@"%%" WITH GRANT OPTION;\n'
  if [ -n "${MYSQL_DATABASE:-}" ]; then
    printf 'CREATE DATABASE `%s`;\n' "$MYSQL_DATABASE"
  fi
  if [ -n "${MYSQL_USER:-}" ]; then
    printf 'CREATE USER `%s`@"%%" IDENTIFIED BY %s;\n' \
      "$MYSQL_USER" "$(quoted "${MYSQL_PASSWORD:?MYSQL_USER needs a password}")"
    if [ -n "${MYSQL_DATABASE:-}" ]; then
      printf 'GRANT ALL PRIVILEGES ON `%s`.* TO `%s`@"%%";\n' "$MYSQL_DATABASE" "$MYSQL_USER"
    fi
  fi
}

create() {
  : "${MYSQL_ROOT_PASSWORD:?set the password of root}"
  chown mysql:mysql "$data"
  mariadb-install-db --user=mysql --skip-test-db --auth-root-authentication-method=normal >/dev/null
  # Listen only on the socket, so that no client reaches an incomplete server.
  mariadbd --skip-networking &
  server=$!
  until mariadb --user=root --execute='SELECT 1' >/dev/null 2>&1; do
    kill -0 "$server" || exit 1
    sleep 0.1
  done
  statements | mariadb --user=root
  for file in /docker-entrypoint-initdb.d/*.sql; do
    [ -e "$file" ] || continue
    MYSQL_PWD="$MYSQL_ROOT_PASSWORD" mariadb --user=root ${MYSQL_DATABASE:+"$MYSQL_DATABASE"} < "$file"
  done
  kill "$server"
  wait "$server"
}

if [ "$1" = mariadbd ] && [ ! -d "$data/mysql" ]; then create; fi
exec "$@"
