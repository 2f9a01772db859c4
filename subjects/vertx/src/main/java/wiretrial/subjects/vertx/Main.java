package wiretrial.subjects.vertx;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.util.List;

/** Starts an instance of the server for each event loop. */
public final class Main {
  private Main() {}

  public static void main(String[] words) {
    List<String> options = List.of(words);
    if (options.contains("--version")) {
      System.out.println(Vertx.class.getPackage().getImplementationVersion());
      return;
    }
    int threads = Integer.parseInt(after(options, "--threads"));
    VertxOptions wanted = new VertxOptions().setEventLoopPoolSize(threads);
    wanted.setPreferNativeTransport(options.contains("--tuned"));
    Vertx vertx = Vertx.vertx(wanted);
    String host = after(options, "--host");
    int port = Integer.parseInt(after(options, "--port"));
    vertx
        .deployVerticle(
            () -> new Server(host, port), new DeploymentOptions().setInstances(threads))
        .onFailure(
            error -> {
              error.printStackTrace();
              System.exit(1);
            });
  }

  private static String after(List<String> options, String name) {
    return options.get(options.indexOf(name) + 1);
  }
}
