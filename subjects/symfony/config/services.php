<?php
// Services and settings. The environment `tuned` has what is documented for performance besides.

use App\ContentLength;
use App\Store;
use App\WebController;
use Doctrine\DBAL\Connection;
use Symfony\Component\DependencyInjection\Loader\Configurator\ContainerConfigurator;

use function Symfony\Component\DependencyInjection\Loader\Configurator\env;

return function (ContainerConfigurator $container): void {
    $tuned = $container->env() === 'tuned';
    $container->parameters()->set('container.dumper.inline_factories', $tuned);
    $container->extension('framework', [
        'secret' => "a trial's",
        'http_method_override' => false,
        // The children's common memory, which has the rows of `/cached`.
        'cache' => ['app' => 'cache.adapter.apcu'],
    ]);
    $services = $container->services()->defaults()->autowire()->autoconfigure();
    $services->set(Connection::class)
        ->factory([Store::class, 'connect'])
        ->args([env('DATABASE_URL'), $tuned]);
    $services->set(Store::class);
    $services->set(WebController::class);
    $services->set(ContentLength::class);
};
