#!/bin/sh
# In the repository: the secrets that `service setup --out deploy` made, to the cluster that kubectl talks to, each as
# files of the pods that use them. Repeat it after a new key or password, then restart the pods.
set -eu
from=${1:-deploy}

# give NAMESPACE NAME --from-…=…: creates or replaces a Secret.
give() {
  namespace=$1 name=$2
  shift 2
  kubectl --namespace "$namespace" create secret generic "$name" "$@" --dry-run=client --output yaml | kubectl apply -f -
}
# files NAME…: its arguments for secrets of setup.
files() { for name in "$@"; do printf ' --from-file=%s/secrets/%s' "$from" "$name"; done; }

kubectl apply -f deploy/kubernetes/base/namespaces.yaml
# shellcheck disable=SC2046
{
  give geoswap geoswap-migrate $(files owner_database_url)
  give geoswap geoswap-api $(files api_database_url seal_keys)
  give geoswap geoswap-worker $(files worker_database_url worker_passphrase)
  give geoswap-attester geoswap-attester $(files attester_database_url attester_passphrase)
}
give geoswap geoswap-worker-keystore --from-file="$from/keystore/worker"
give geoswap-attester geoswap-attester-keystore --from-file="$from/keystore/attester"
if [ -e "$from/nodes.env" ]; then give geoswap geoswap-nodes --from-env-file="$from/nodes.env"; fi
if [ -e "$from/attester-nodes.env" ]; then
  give geoswap-attester geoswap-nodes --from-env-file="$from/attester-nodes.env"
fi
