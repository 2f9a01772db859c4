#!/bin/bash
# Runs php-fpm and nginx, unpacked in $1, in the foreground, with the files of the run folder $2.
# Told to end, it ends both; where one of them ends by itself, it ends the other and fails.
set -u
build=$1 run=$2

# The pool and nginx serve as the user who starts them: another one could not read the application.
RUN_AS=$(id -un)
RUN_AS_GROUP=$(id -gn)
export RUN_AS RUN_AS_GROUP
# Debian's php.ini of php-fpm is this file, and its modules are those of the command line.
ini=/usr/lib/php/8.2/php.ini-production
modules=/etc/php/8.2/cli/conf.d

programs=()
end() {
    trap - TERM INT EXIT
    kill "${programs[@]}" 2>/dev/null
    wait
    exit "$1"
}
trap 'end 0' TERM INT
trap 'end 1' EXIT

PHP_INI_SCAN_DIR=$modules:$run "$build/usr/sbin/php-fpm8.2" \
    --nodaemonize --allow-to-run-as-root --php-ini "$ini" --fpm-config "$run/fpm.conf" &
programs+=($!)
until [ -S "$run/php.sock" ]; do
    kill -0 "${programs[0]}" || exit
    sleep 0.02
done
"$build/usr/sbin/nginx" -p "$run" -c "$run/nginx.conf" -e "$run/error.log" \
    -g "user $RUN_AS $RUN_AS_GROUP;" &
programs+=($!)
wait -n
