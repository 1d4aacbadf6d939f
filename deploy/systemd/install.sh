#!/bin/sh
# As root, in the repository: users, units, settings and the secrets that `service setup --out deploy` made.
# Settings that exist in /etc/geoswap stay. Repeat it after an upgrade or a new key.
set -eu
from=${1:-deploy}
install -m 644 deploy/systemd/geoswap.sysusers.conf /usr/lib/sysusers.d/geoswap.conf
systemd-sysusers
install -m 644 deploy/systemd/*.service /etc/systemd/system/

# A secret of one role: only its Unix user can read it.
give() { install -o root -g "geoswap-$1" -m 640 "$from/$2" "/etc/geoswap/$3"; }

for role in api worker attester migrate; do
  install -d -o root -g "geoswap-$role" -m 750 "/etc/geoswap/secrets/$role"
  test -e "/etc/geoswap/$role.env" || install -m 644 "deploy/systemd/$role.env.example" "/etc/geoswap/$role.env"
done
for role in api worker attester; do give $role "secrets/${role}_database_url" "secrets/$role/database_url"; done
give migrate secrets/owner_database_url secrets/migrate/database_url
give api secrets/seal_keys secrets/api/seal_keys
for role in worker attester; do
  give $role "secrets/${role}_passphrase" "secrets/$role/passphrase"
  install -d -o root -g "geoswap-$role" -m 750 "/etc/geoswap/keystore/$role"
  for key in "$from/keystore/$role"/*; do give $role "keystore/$role/${key##*/}" "keystore/$role/${key##*/}"; done
done
install -m 644 "$from/geoswap.json" /etc/geoswap/geoswap.json
systemctl daemon-reload
echo 'Next: systemctl start geoswap-migrate, then enable --now geoswap-api@8080 geoswap-worker@9464 geoswap-attester'
