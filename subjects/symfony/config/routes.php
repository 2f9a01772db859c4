<?php
// Routes are attributes of the controller.

use Symfony\Component\Routing\Loader\Configurator\RoutingConfigurator;

return function (RoutingConfigurator $routes): void {
    $routes->import(__DIR__.'/../src/WebController.php', 'annotation');
};
