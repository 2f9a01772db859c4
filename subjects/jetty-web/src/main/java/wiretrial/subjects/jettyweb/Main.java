package wiretrial.subjects.jettyweb;

import java.util.List;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.VirtualThreads;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** The contract `web` on Jetty's server, without servlets: threads, a port and one handler. */
public final class Main {
  private Main() {}

  public static void main(String[] words) throws Exception {
    List<String> options = List.of(words);
    boolean tuned = options.contains("--tuned");
    QueuedThreadPool threads = new QueuedThreadPool();
    HttpConfiguration configuration = new HttpConfiguration();
    if (tuned) {
      // None where Java is older than 21.
      threads.setVirtualThreadsExecutor(VirtualThreads.getDefaultVirtualThreadsExecutor());
      configuration.setSendServerVersion(false);
    }
    Server server = new Server(threads);
    ServerConnector connector =
        new ServerConnector(server, new HttpConnectionFactory(configuration));
    connector.setHost(after(options, "--host"));
    connector.setPort(Integer.parseInt(after(options, "--port")));
    server.addConnector(connector);
    server.setHandler(new Answering());
    server.start();
    server.join();
  }

  private static String after(List<String> options, String name) {
    return options.get(options.indexOf(name) + 1);
  }
}
