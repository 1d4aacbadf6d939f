#!/bin/sh
# Installs or upgrades what an overlay describes: sh deploy/kubernetes/upgrade.sh FOLDER. In this order each process meets
# only rows that it can read, and one process of a role is replaced at a time: docs/operations/upgrades.md.
set -eu
overlay=${1:?names no folder of an overlay}
apply() { kubectl apply -k "$overlay" --selector "$1"; }
replace() {
  apply "app.kubernetes.io/component=$2"
  kubectl --namespace "$1" rollout status "deployment/geoswap-$2" --timeout=15m
}

apply '!app.kubernetes.io/component'
# A Job cannot be changed.
kubectl --namespace geoswap delete job geoswap-migrate --ignore-not-found
apply app.kubernetes.io/component=migrate
kubectl --namespace geoswap wait --for=condition=complete --timeout=15m job/geoswap-migrate
replace geoswap worker
replace geoswap-attester attester
replace geoswap api
