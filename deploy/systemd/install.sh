#!/bin/sh
# As root, in the repository: users, units, settings and the secrets that `service setup --out deploy` made.
# Settings that exist in /etc/geoswap stay. Repeat it after an upgrade or a new key.
# Of several attesters `attester_2` of setup becomes geoswap-attester-2, with a user, unit, settings and port of its own.
set -eu
from=${1:-deploy}
to=${DESTDIR:-}
install -d "$to/usr/lib/sysusers.d" "$to/etc/systemd/system"
install -m 644 deploy/systemd/geoswap.sysusers.conf "$to/usr/lib/sysusers.d/geoswap.conf"
install -m 644 deploy/systemd/*.service "$to/etc/systemd/system/"

# of_attester ROLE FILE: a file of the first attester, for this one.
of_attester() { sed -E "s#(geoswap-|geoswap/|secrets/|keystore/)attester#\1$1#g" "$2"; }

attesters=attester
for keystore in "$from"/keystore/attester_*; do
  test -d "$keystore" || continue
  number=${keystore##*_}
  role=attester-$number
  attesters="$attesters $role"
  of_attester "$role" deploy/systemd/geoswap-attester.service > "$to/etc/systemd/system/geoswap-$role.service"
  grep '^u geoswap-attester ' deploy/systemd/geoswap.sysusers.conf | of_attester "$role" - \
    > "$to/usr/lib/sysusers.d/geoswap-$role.conf"
done
systemd-sysusers

# A secret of one role: only its Unix user can read it.
give() { install -o root -g "geoswap-$1" -m 640 "$from/$2" "$to/etc/geoswap/$3"; }

for role in api worker $attesters migrate; do
  install -d -o root -g "geoswap-$role" -m 750 "$to/etc/geoswap/secrets/$role"
  test -e "$to/etc/geoswap/$role.env" && continue
  case $role in
    attester-*)
      of_attester "$role" deploy/systemd/attester.env.example |
        sed "s/^METRICS_PORT=.*/METRICS_PORT=$((9464 - ${role##*-}))/" > "$to/etc/geoswap/$role.env" ;;
    *) install -m 644 "deploy/systemd/$role.env.example" "$to/etc/geoswap/$role.env" ;;
  esac
done
# In the files of setup: attester_2.
for role in api worker $attesters; do
  give "$role" "secrets/$(echo "$role" | tr - _)_database_url" "secrets/$role/database_url"
done
give migrate secrets/owner_database_url secrets/migrate/database_url
give api secrets/seal_keys secrets/api/seal_keys
for role in worker $attesters; do
  part=$(echo "$role" | tr - _)
  give "$role" "secrets/${part}_passphrase" "secrets/$role/passphrase"
  install -d -o root -g "geoswap-$role" -m 750 "$to/etc/geoswap/keystore/$role"
  for key in "$from/keystore/$part"/*; do give "$role" "keystore/$part/${key##*/}" "keystore/$role/${key##*/}"; done
done
install -m 644 "$from/geoswap.json" "$to/etc/geoswap/geoswap.json"
systemctl daemon-reload
units=$(for role in $attesters; do printf ' geoswap-%s' "$role"; done)
echo "Next: systemctl start geoswap-migrate, then enable --now geoswap-api@8080 geoswap-worker@9464$units"
