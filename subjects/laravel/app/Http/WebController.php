<?php
// The contract `web` in Laravel: arrays that become JSON, and a page by Blade.

namespace App\Http;

use App\Store;
use Illuminate\Contracts\View\View;
use Illuminate\Http\JsonResponse;
use Illuminate\Http\Request;
use Illuminate\Http\Response;
use Illuminate\Routing\Controller;
use Wiretrial\Contract;

final class WebController extends Controller
{
    public function __construct(private Store $store)
    {
    }

    public function plaintext(): Response
    {
        return response(Contract::GREETING)->header('Content-Type', 'text/plain');
    }

    public function greeting(): array
    {
        return ['message' => Contract::GREETING];
    }

    public function one(Request $request): array
    {
        return Contract::rows($this->store->rows([(int) $request->query('id')]))[0];
    }

    public function queries(Request $request): array
    {
        return Contract::rows($this->store->rows(Contract::ids($request->query())));
    }

    public function updates(Request $request): array
    {
        $changes = Contract::changes($request->query());
        $this->store->change($changes);

        return Contract::rows($changes);
    }

    public function cached(Request $request): array
    {
        return Contract::rows($this->store->cached(Contract::ids($request->query())));
    }

    public function fortunes(): View
    {
        return view('fortunes', ['fortunes' => Contract::fortunes($this->store->fortunes())]);
    }

    public function login(Request $request): JsonResponse
    {
        $token = $this->store->login($request->json('name'), $request->json('password'));

        return $token === null ? response()->json([], 401) : response()->json(['token' => $token]);
    }

    public function items(Request $request): array
    {
        return $this->store->items($this->account($request));
    }

    public function add(Request $request): JsonResponse
    {
        $made = $this->store->add($this->account($request), $request->json('text'));

        return response()->json($made, 201);
    }

    /** Whose token it is; nobody gets further. */
    private function account(Request $request): int
    {
        return $this->store->account($request->bearerToken() ?? '') ?? abort(401);
    }
}
