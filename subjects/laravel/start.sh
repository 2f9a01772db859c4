#!/bin/sh
# Starts the server of $1 with the run folder $2, into which Laravel writes. With `cached`, it is
# deployed before: the address of the database, which becomes part of the cache, is known only now.
set -eu
build=$1 run=$2
export APP_ENV=production APP_STORAGE="$run"
export APP_SERVICES_CACHE="$run/services.php" APP_PACKAGES_CACHE="$run/packages.php"
export APP_CONFIG_CACHE="$run/config.php" APP_ROUTES_CACHE="$run/routes.php"
mkdir -p "$run/framework/views"
if [ "${3:-}" = cached ]; then
    export DATABASE_PERSISTENT=true
    php8.2 "$build/artisan" optimize
    php8.2 "$build/artisan" view:cache
fi
exec bash "$build/shared/web-php/start.sh" "$build" "$run"
