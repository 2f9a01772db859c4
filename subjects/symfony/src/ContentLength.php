<?php
// Says how long each reply is, which is sent in chunks otherwise.

namespace App;

use Symfony\Component\EventDispatcher\EventSubscriberInterface;
use Symfony\Component\HttpKernel\Event\ResponseEvent;
use Symfony\Component\HttpKernel\KernelEvents;

final class ContentLength implements EventSubscriberInterface
{
    public static function getSubscribedEvents(): array
    {
        return [KernelEvents::RESPONSE => 'tell'];
    }

    public function tell(ResponseEvent $event): void
    {
        $response = $event->getResponse();
        $response->headers->set('Content-Length', (string) \strlen($response->getContent()));
    }
}
