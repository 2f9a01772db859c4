import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.CompletableResponseListener;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http2.client.HTTP2Client;
import org.eclipse.jetty.http2.client.transport.HttpClientTransportOverHTTP2;
import org.eclipse.jetty.io.ClientConnector;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** Jetty's HttpClient over its transport of HTTP/2: {@code java JettyClient BASE CA_FILE}. */
final class JettyClient {
    private static final int LARGEST_REPLY = 2 << 20;

    public static void main(String[] words) throws Exception {
        SslContextFactory.Client tls = new SslContextFactory.Client();
        tls.setSslContext(Trust.in(words[1]));
        ClientConnector connector = new ClientConnector();
        connector.setSslContextFactory(tls);
        HttpClient client = new HttpClient(new HttpClientTransportOverHTTP2(new HTTP2Client(connector)));
        client.setMaxConnectionsPerDestination(1);
        client.start();
        Checks.run(
                (path, body) -> {
                    var request = client.newRequest(words[0] + path);
                    if (body.length > 0) {
                        request.method(HttpMethod.POST).body(new BytesRequestContent(body));
                    }
                    return new CompletableResponseListener(request, LARGEST_REPLY)
                            .send()
                            .thenApply(
                                    reply -> {
                                        boolean isHttp2 = reply.getVersion() == HttpVersion.HTTP_2;
                                        if (reply.getStatus() != 200 || !isHttp2) {
                                            throw new IllegalStateException(reply.toString());
                                        }
                                        return reply.getContent();
                                    });
                });
        client.stop();
    }
}
