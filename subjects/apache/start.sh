#!/bin/sh
# The files that are served lie in a folder of their own, beside which are logs and keys.
set -eu
apache=$1 run=$2
mkdir "$run/files"
cp "$run/message" "$run/files/message"
exec "$apache" -f "$run/httpd.conf" -DFOREGROUND
