<?php
// Errors go where php-fpm's go.

return [
    'default' => 'errorlog',
    'channels' => ['errorlog' => ['driver' => 'errorlog', 'level' => 'error']],
];
