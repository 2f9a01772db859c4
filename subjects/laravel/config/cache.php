<?php
// The children's common memory, which has the rows of `/cached`.

return [
    'default' => 'apc',
    'stores' => ['apc' => ['driver' => 'apc']],
    'prefix' => 'cached_world.',
];
