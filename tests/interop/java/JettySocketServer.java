import java.nio.file.Path;
import java.util.List;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.server.handler.ContextHandler;
import org.eclipse.jetty.websocket.server.ServerWebSocketContainer;
import org.eclipse.jetty.websocket.server.WebSocketUpgradeHandler;
import wiretrial.subjects.jetty.Echo;

/**
 * The echo of the subject jetty on streams of HTTP/2: {@code java JettySocketServer CERT KEY}. It says {@code ready
 * http=IP:PORT https=IP:PORT}.
 */
final class JettySocketServer {
    private static final long LARGEST_MESSAGE = 2 << 20;

    private JettySocketServer() {}

    public static void main(String[] words) throws Exception {
        Server server = new Server();
        var plainly = new HttpConfiguration();
        var plain =
                new ServerConnector(
                        server,
                        new HttpConnectionFactory(plainly),
                        new HTTP2CServerConnectionFactory(plainly));
        var securely = new HttpConfiguration();
        securely.addCustomizer(new SecureRequestCustomizer());
        var choice = new ALPNServerConnectionFactory();
        var secure =
                new ServerConnector(
                        server,
                        new SslConnectionFactory(
                                JettyKeys.in(Path.of(words[0]), Path.of(words[1])),
                                choice.getProtocol()),
                        choice,
                        new HTTP2ServerConnectionFactory(securely));
        for (ServerConnector connector : List.of(plain, secure)) {
            connector.setHost("127.0.0.1");
            server.addConnector(connector);
        }
        var context = new ContextHandler("/");
        context.setHandler(
                WebSocketUpgradeHandler.from(server, context, JettySocketServer::configure));
        server.setHandler(context);
        server.start();
        System.out.printf(
                "ready http=127.0.0.1:%d https=127.0.0.1:%d%n",
                plain.getLocalPort(), secure.getLocalPort());
        server.join();
    }

    private static void configure(ServerWebSocketContainer container) {
        container.setMaxBinaryMessageSize(LARGEST_MESSAGE);
        container.setMaxTextMessageSize(LARGEST_MESSAGE);
        container.addMapping("/chat", (request, response, callback) -> new Echo());
    }
}
