<?php
// Tells the versions of Laravel, of what serves it and of the language.

use Illuminate\Foundation\Application;

require __DIR__.'/vendor/autoload.php';

echo Application::VERSION, ' ';
require __DIR__.'/shared/web-php/version.php';
