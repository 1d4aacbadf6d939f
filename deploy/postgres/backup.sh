#!/bin/sh
# Dumps the database every hour to /backups and keeps a week. A copy on the same machine is no backup: fetch it from there.
set -eu

url=$(cat /run/secrets/owner_database_url)
while :; do
  file="/backups/geoswap-$(date -u +%Y%m%dT%H%M%SZ).dump"
  if pg_dump --format=custom --file="$file.partial" "$url"; then
    mv "$file.partial" "$file"
    find /backups -name '*.dump' -mtime +7 -delete
  else
    echo "no dump at $(date -u)" >&2
  fi
  sleep 3600
done
