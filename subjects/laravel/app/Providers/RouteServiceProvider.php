<?php
// Has the routes loaded, or what was cached of them.

namespace App\Providers;

use Illuminate\Foundation\Support\Providers\RouteServiceProvider as ServiceProvider;
use Illuminate\Support\Facades\Route;

final class RouteServiceProvider extends ServiceProvider
{
    public function boot(): void
    {
        $this->routes(fn () => Route::middleware('api')->group(base_path('routes/api.php')));
    }
}
