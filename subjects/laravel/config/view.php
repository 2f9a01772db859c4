<?php
// Templates, and where they lie when they are compiled.

return [
    'paths' => [resource_path('views')],
    'compiled' => storage_path('framework/views'),
];
