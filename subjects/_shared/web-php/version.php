<?php
// Tells the versions of the servers that are unpacked in $argv[1], and that of the language.

function said(string $command, string $pattern): string
{
    preg_match($pattern, (string) shell_exec("$command 2>&1"), $found);

    return $found[1] ?? 'unknown';
}

$folder = escapeshellarg("$argv[1]/usr/sbin");
$nginx = said("$folder/nginx -v", '~nginx/(\S+)~');
$fpm = said("$folder/php-fpm8.2 -v", '~PHP (\d[\d.]*)~');
echo "on nginx $nginx, php-fpm $fpm and PHP ", strtok(PHP_VERSION, '-'), "\n";
