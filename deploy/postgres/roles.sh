#!/bin/sh
# Makes the database roles of the service: what they are is in docs/operations/database.md, "Roles". Each login and its
# password come from its URL in /run/secrets. PostgreSQL's image runs it in an empty database; run it again by hand to
# change passwords, or in a database from before: docker compose exec postgres sh /docker-entrypoint-initdb.d/roles.sh
set -eu

run() {
  psql --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" "$@"
}

# login NAME: what postgres://LOGIN:PASSWORD@HOST/DATABASE in the secret NAME says.
login() {
  url=$(cat "/run/secrets/$1")
  account=${url#*://}
  account=${account%%@*}
  user=${account%%:*}
  password=${account#*:}
  run --set user="$user" --set password="$password" <<'SQL'
select format('create role %I login', :'user') where to_regrole(quote_ident(:'user')) is null \gexec
alter role :"user" password :'password';
SQL
}

login owner_database_url
run --set user="$user" --set database="$POSTGRES_DB" <<'SQL'
alter database :"database" owner to :"user";
SQL

for part in api worker attester operator dashboard; do
  run --set group="geoswap_$part" <<'SQL'
select format('create role %I nologin', :'group') where to_regrole(:'group') is null \gexec
SQL
  [ -s "/run/secrets/${part}_database_url" ] || continue
  login "${part}_database_url"
  run --set user="$user" --set group="geoswap_$part" <<'SQL'
grant :"group" to :"user";
SQL
done

if [ -s /run/secrets/exporter_password ]; then
  run --set password="$(cat /run/secrets/exporter_password)" <<'SQL'
select 'create role geoswap_exporter login' where to_regrole('geoswap_exporter') is null \gexec
alter role geoswap_exporter password :'password';
grant pg_monitor to geoswap_exporter;
SQL
fi
