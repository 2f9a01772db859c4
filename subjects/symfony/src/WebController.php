<?php
// The contract `web` in Symfony: routes as attributes, JsonResponse, and a page by Twig.

namespace App;

use Symfony\Bundle\FrameworkBundle\Controller\AbstractController;
use Symfony\Component\HttpFoundation\JsonResponse;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpKernel\Exception\HttpException;
use Symfony\Component\Routing\Annotation\Route;
use Wiretrial\Contract;

final class WebController extends AbstractController
{
    public function __construct(private Store $store)
    {
    }

    #[Route('/plaintext', methods: ['GET'])]
    public function plaintext(): Response
    {
        return new Response(Contract::GREETING, headers: ['Content-Type' => 'text/plain']);
    }

    #[Route('/json', methods: ['GET'])]
    public function greeting(): JsonResponse
    {
        return $this->json(['message' => Contract::GREETING]);
    }

    #[Route('/db', methods: ['GET'])]
    public function one(Request $request): JsonResponse
    {
        return $this->json(Contract::rows($this->store->rows([$request->query->getInt('id')]))[0]);
    }

    #[Route('/queries', methods: ['GET'])]
    public function queries(Request $request): JsonResponse
    {
        return $this->json(Contract::rows($this->store->rows(Contract::ids($request->query->all()))));
    }

    #[Route('/updates', methods: ['GET'])]
    public function updates(Request $request): JsonResponse
    {
        $changes = Contract::changes($request->query->all());
        $this->store->change($changes);

        return $this->json(Contract::rows($changes));
    }

    #[Route('/cached', methods: ['GET'])]
    public function cached(Request $request): JsonResponse
    {
        return $this->json(Contract::rows($this->store->cached(Contract::ids($request->query->all()))));
    }

    #[Route('/fortunes', methods: ['GET'])]
    public function fortunes(): Response
    {
        $fortunes = Contract::fortunes($this->store->fortunes());

        return $this->render('fortunes.html.twig', ['fortunes' => $fortunes]);
    }

    #[Route('/login', methods: ['POST'])]
    public function login(Request $request): JsonResponse
    {
        $said = $request->toArray();
        $token = $this->store->login($said['name'], $said['password']);

        return $token === null ? $this->json([], 401) : $this->json(['token' => $token]);
    }

    #[Route('/items', methods: ['GET'])]
    public function items(Request $request): JsonResponse
    {
        return $this->json($this->store->items($this->account($request)));
    }

    #[Route('/items', methods: ['POST'])]
    public function add(Request $request): JsonResponse
    {
        $account = $this->account($request);

        return $this->json($this->store->add($account, $request->toArray()['text']), 201);
    }

    /** Whose token it is; nobody gets further. */
    private function account(Request $request): int
    {
        $token = str_replace('Bearer ', '', $request->headers->get('Authorization', ''));

        return $this->store->account($token) ?? throw new HttpException(401);
    }
}
