package wiretrial.subjects.jettyhttp2;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Security;
import org.conscrypt.OpenSSLProvider;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http2.server.AbstractHTTP2ServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import wiretrial.server.Options;
import wiretrial.server.Pem;

/**
 * HTTP/1.1 and HTTP/2 with Jetty on one port, and both inside TLS on another.
 *
 * <p>Knows threads, ports and TLS; must not know routes.
 *
 * <p>{@code --host H --port P --tls-port P --cert FILE --key FILE --threads N [--tuned]}
 */
public final class Main {
    private static final int PORTS = 2;
    private static final int ACCEPTORS = 1;
    /** What Jetty itself keeps ready in a small pool, to go on selecting while a handler runs. */
    private static final int RESERVED = 1;
    private static final int ACCEPT_QUEUE = 128;
    /** A store of keys can't do without; this one never leaves the process. */
    private static final String PASSWORD = "in memory";

    private static final int STREAMS = 1000;
    private static final int WINDOW = 1 << 20;

    private Main() {}

    public static void main(String[] words) throws Exception {
        if (words.length == 1 && words[0].equals("--version")) {
            System.out.println(Server.getVersion());
            return;
        }
        Options options = Options.readOrExit(words);
        Server server = new Server(pool(options.threads()));
        connect(server, options, options.port(), plain(options));
        connect(server, options, options.tlsPort(), secure(options));
        server.setHandler(new Routes());
        server.start();
        server.join();
    }

    /** So many threads for requests, beside those that Jetty leases for good. */
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

    private static ConnectionFactory[] plain(Options options) {
        var configuration = new HttpConfiguration();
        var http2 = new HTTP2CServerConnectionFactory(configuration);
        return new ConnectionFactory[] {
            new HttpConnectionFactory(configuration), tuned(http2, options)
        };
    }

    private static ConnectionFactory[] secure(Options options)
            throws IOException, GeneralSecurityException {
        var configuration = new HttpConfiguration();
        configuration.addCustomizer(new SecureRequestCustomizer());
        var http = new HttpConnectionFactory(configuration);
        var http2 = tuned(new HTTP2ServerConnectionFactory(configuration), options);
        var choice = new ALPNServerConnectionFactory();
        choice.setDefaultProtocol(http.getProtocol());
        return new ConnectionFactory[] {
            new SslConnectionFactory(tls(options), choice.getProtocol()), choice, http2, http
        };
    }

    private static ConnectionFactory tuned(
            AbstractHTTP2ServerConnectionFactory http2, Options options) {
        if (options.tuned()) {
            http2.setMaxConcurrentStreams(STREAMS);
            http2.setInitialStreamRecvWindow(WINDOW);
        }
        return http2;
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
}
