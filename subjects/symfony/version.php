<?php
// Tells the versions of Symfony, of what serves it and of the language.

use Symfony\Component\HttpKernel\Kernel;

require __DIR__.'/vendor/autoload.php';

echo Kernel::VERSION, ' ';
require __DIR__.'/shared/web-php/version.php';
