#!/bin/sh
# HAProxy reads certificate and key from one file.
set -eu
haproxy=$1 run=$2 cert=$3 key=$4
cat "$cert" "$key" >"$run/server.pem"
exec "$haproxy" -f "$run/haproxy.cfg" -db
