<?php
// The database, with a connection for each request, or one that a child keeps.

return [
    'default' => 'pgsql',
    'connections' => [
        'pgsql' => [
            'driver' => 'pgsql',
            'url' => env('DATABASE_URL'),
            'prefix' => '',
            'options' => [PDO::ATTR_PERSISTENT => env('DATABASE_PERSISTENT', false)],
        ],
    ],
];
