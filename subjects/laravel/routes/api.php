<?php
// The ten routes of the contract `web`.

use App\Http\WebController;
use Illuminate\Support\Facades\Route;

Route::get('/plaintext', [WebController::class, 'plaintext']);
Route::get('/json', [WebController::class, 'greeting']);
Route::get('/db', [WebController::class, 'one']);
Route::get('/queries', [WebController::class, 'queries']);
Route::get('/updates', [WebController::class, 'updates']);
Route::get('/cached', [WebController::class, 'cached']);
Route::get('/fortunes', [WebController::class, 'fortunes']);
Route::post('/login', [WebController::class, 'login']);
Route::get('/items', [WebController::class, 'items']);
Route::post('/items', [WebController::class, 'add']);
