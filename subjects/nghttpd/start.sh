#!/bin/sh
# nghttpd has one port: two of them, and the first that ends takes the other with it.
set -eu
nghttpd=$1
host=$2 port=$3 tls_port=$4 threads=$5 key=$6 cert=$7
shift 7
"$nghttpd" --address="$host" --workers="$threads" --echo-upload "$@" --no-tls "$port" &
plain=$!
"$nghttpd" --address="$host" --workers="$threads" --echo-upload "$@" "$tls_port" "$key" "$cert" &
secure=$!
trap 'kill "$plain" "$secure" 2>/dev/null || :; exit 0' TERM INT
while kill -0 "$plain" 2>/dev/null && kill -0 "$secure" 2>/dev/null; do
  sleep 0.2
done
kill "$plain" "$secure" 2>/dev/null || :
exit 1
