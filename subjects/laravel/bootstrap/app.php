<?php
// The application and its kernels. What it writes lies in a folder that the environment names.

require_once __DIR__.'/../vendor/autoload.php';

$app = new Illuminate\Foundation\Application(dirname(__DIR__));
$app->useStoragePath($_SERVER['APP_STORAGE']);
$app->singleton(Illuminate\Contracts\Http\Kernel::class, App\Http\Kernel::class);
$app->singleton(Illuminate\Contracts\Console\Kernel::class, Illuminate\Foundation\Console\Kernel::class);
$app->singleton(
    Illuminate\Contracts\Debug\ExceptionHandler::class,
    Illuminate\Foundation\Exceptions\Handler::class,
);

return $app;
