package wiretrial.subjects.helidon;

import io.helidon.webserver.WebServer;
import io.helidon.webserver.WebServerConfig;
import java.util.List;
import wiretrial.subjects.web.Store;

/** The contract `web` in Helidon SE: a port, and a virtual thread for each connection. */
public final class Main {
  private Main() {}

  public static void main(String[] words) {
    List<String> options = List.of(words);
    WebServerConfig.Builder server =
        WebServer.builder()
            .host(after(options, "--host"))
            .port(Integer.parseInt(after(options, "--port")))
            .routing(routing -> routing.register(new Routes(new Store())));
    if (options.contains("--tuned")) {
      server.connectionOptions(connection -> connection.tcpNoDelay(true));
    }
    server.build().start();
  }

  private static String after(List<String> options, String name) {
    return options.get(options.indexOf(name) + 1);
  }
}
