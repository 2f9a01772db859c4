package wiretrial.subjects.jetty;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Security;
import java.time.Duration;
import org.conscrypt.OpenSSLProvider;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.server.handler.ContextHandler;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.Invocable.InvocationType;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.websocket.server.ServerWebSocketContainer;
import org.eclipse.jetty.websocket.server.WebSocketUpgradeHandler;
import wiretrial.server.Options;
import wiretrial.server.Pem;

/**
 * An echo over WebSocket with Jetty: ws on one port, wss on another.
 *
 * <p>Knows threads, ports and TLS; must not know messages.
 *
 * <p>{@code --host H --port P --tls-port P --cert FILE --key FILE --threads N [--tuned]}
 */
public final class Main {
    private static final int PORTS = 2;
    private static final int ACCEPTORS = 1;
    /** What Jetty itself keeps ready in a small pool, to go on selecting while a handler runs. */
    private static final int RESERVED = 1;
    private static final int ACCEPT_QUEUE = 128;
    private static final long LARGEST_MESSAGE = 128 << 20;
    /** A store of keys can't do without; this one never leaves the process. */
    private static final String PASSWORD = "in memory";

    private Main() {}

    public static void main(String[] words) throws Exception {
        if (words.length == 1 && words[0].equals("--version")) {
            System.out.println(Server.getVersion());
            return;
        }
        Options options = Options.readOrExit(words);
        Server server = new Server(pool(options.threads()));
        connect(server, options, options.port(), new HttpConnectionFactory());
        connect(server, options, options.tlsPort(), secure(options));
        ContextHandler context = new ContextHandler("/");
        context.setHandler(
                WebSocketUpgradeHandler.from(
                        server, context, container -> configure(container, options.tuned())));
        server.setHandler(context);
        server.start();
        server.join();
    }

    /** So many threads for messages, beside those that Jetty leases for good. */
    private static QueuedThreadPool pool(int threads) {
        int leased = PORTS * (ACCEPTORS + threads) + RESERVED;
        return new QueuedThreadPool(leased + threads);
    }

    private static void connect(
            Server server, Options options, int port, ConnectionFactory... protocols) {
        var connector = new ServerConnector(server, ACCEPTORS, options.threads(), protocols);
        connector.setHost(options.host());
        connector.setPort(port);
        connector.setAcceptQueueSize(ACCEPT_QUEUE);
        server.addConnector(connector);
    }

    private static ConnectionFactory[] secure(Options options)
            throws IOException, GeneralSecurityException {
        var configuration = new HttpConfiguration();
        configuration.addCustomizer(new SecureRequestCustomizer());
        var http = new HttpConnectionFactory(configuration);
        return new ConnectionFactory[] {
            new SslConnectionFactory(tls(options), http.getProtocol()), http
        };
    }

    private static SslContextFactory.Server tls(Options options)
            throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, null);
        keys.setKeyEntry(
                "server",
                Pem.key(options.key()),
                PASSWORD.toCharArray(),
                Pem.chain(options.cert()));
        var tls = new SslContextFactory.Server();
        tls.setKeyStore(keys);
        tls.setKeyStorePassword(PASSWORD);
        if (options.tuned()) {
            var conscrypt = new OpenSSLProvider();
            Security.addProvider(conscrypt);
            tls.setProvider(conscrypt.getName());
        }
        return tls;
    }

    private static void configure(ServerWebSocketContainer container, boolean tuned) {
        container.setMaxBinaryMessageSize(LARGEST_MESSAGE);
        container.setMaxTextMessageSize(LARGEST_MESSAGE);
        // Zero is for ever: a connection that says nothing for a while is still wanted.
        container.setIdleTimeout(Duration.ZERO);
        if (tuned) {
            container.setInvocationType(InvocationType.NON_BLOCKING);
        }
        // A servlet's path "/" would be every path.
        container.addMapping("regex|^/$", (request, response, callback) -> new Echo());
    }
}
