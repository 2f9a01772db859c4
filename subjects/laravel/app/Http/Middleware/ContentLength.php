<?php
// Says how long each reply is, which is sent in chunks otherwise.

namespace App\Http\Middleware;

use Closure;
use Illuminate\Http\Request;
use Symfony\Component\HttpFoundation\Response;

final class ContentLength
{
    public function handle(Request $request, Closure $next): Response
    {
        $response = $next($request);
        $response->headers->set('Content-Length', (string) strlen($response->getContent()));

        return $response;
    }
}
