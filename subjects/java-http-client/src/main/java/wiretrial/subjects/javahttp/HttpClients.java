package wiretrial.subjects.javahttp;

import java.net.http.HttpClient;
import java.security.GeneralSecurityException;
import wiretrial.driver.Options;

/** Makes the library's clients, and gives them back. */
final class HttpClients {
    /** A client holds a thread and four descriptors until it is collected. */
    private static final int MOST_UNCOLLECTED = 50;

    private static int uncollected;

    private HttpClients() {}

    static HttpClient make(Options options) throws GeneralSecurityException {
        HttpClient.Builder builder =
                HttpClient.newBuilder()
                        // Proxies of the environment are none of the experiment's.
                        .proxy(HttpClient.Builder.NO_PROXY);
        if (options.tuned() && !options.http2()) {
            builder.version(HttpClient.Version.HTTP_1_1);
        }
        if (options.trust() != null) {
            builder.sslContext(options.tls());
        }
        return builder.build();
    }

    /**
     * Lets go of a client to which nothing refers any more. Before Java 21 it can't be closed: it
     * ends when the garbage collector has noticed.
     */
    static void release(HttpClient client) {
        if (client instanceof AutoCloseable) {
            closeQuietly((AutoCloseable) client);
        } else if (++uncollected == MOST_UNCOLLECTED) {
            uncollected = 0;
            System.gc();
        }
    }

    private static void closeQuietly(AutoCloseable client) {
        try {
            client.close();
        } catch (Exception error) {
            // Nothing is pending that could be lost.
        }
    }
}
