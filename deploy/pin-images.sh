#!/bin/sh
# Prints what deploy/.env needs: the digest of each image that is not ours, as your registry has it now. Tags can be moved
# by whoever owns them, digests cannot. Look at what changed, then:
# PUBLIC_DOMAIN=swap.example.com sh deploy/pin-images.sh > deploy/.env
set -eu

echo "PUBLIC_DOMAIN=${PUBLIC_DOMAIN:?name of your API, such as swap.example.com}"

pin() {
  digest=$(docker buildx imagetools inspect "$2" --format '{{.Manifest.Digest}}')
  echo "$1=$digest"
}

pin NODE_DIGEST node:24-bookworm-slim
pin POSTGRES_DIGEST postgres:18
pin PROMETHEUS_DIGEST prom/prometheus:v3.5.0
pin ALERTMANAGER_DIGEST prom/alertmanager:v0.28.1
pin GRAFANA_DIGEST grafana/grafana:12.1.0
pin CADDY_DIGEST caddy:2.10.0
pin EXPORTER_DIGEST prometheuscommunity/postgres-exporter:v0.17.1
