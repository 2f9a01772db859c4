#!/bin/sh
# Started by root, h2o becomes nobody, who may not read the certificate; it is told to stay.
set -eu
h2o=$1 conf=$2
[ "$(id -u)" -ne 0 ] || echo "user: root" >>"$conf"
exec "$h2o" -m worker -c "$conf"
