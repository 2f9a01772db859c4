import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.CompletableResponseListener;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.http.HttpVersion;

/** Jetty's HttpClient, whatever its transport. */
final class JettyAsking {
    private static final int LARGEST_REPLY = 2 << 20;

    private JettyAsking() {}

    /** Starts it, has it do all checks over one connection, and stops it. */
    static void run(HttpClient client, String base, HttpVersion version) throws Exception {
        client.setMaxConnectionsPerDestination(1);
        client.start();
        try {
            Checks.run(asking(client, base, version));
        } finally {
            client.stop(); // Its threads would keep the program alive behind what went wrong.
        }
    }

    private static Checks.Client asking(HttpClient client, String base, HttpVersion version) {
        return (path, body) -> {
            var request = client.newRequest(base + path);
            if (body.length > 0) {
                request.method(HttpMethod.POST).body(new BytesRequestContent(body));
            }
            return new CompletableResponseListener(request, LARGEST_REPLY)
                    .send()
                    .thenApply(
                            reply -> {
                                if (reply.getStatus() != 200 || reply.getVersion() != version) {
                                    throw new IllegalStateException(reply.toString());
                                }
                                return reply.getContent();
                            });
        };
    }
}
