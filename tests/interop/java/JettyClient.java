import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http2.client.HTTP2Client;
import org.eclipse.jetty.http2.client.transport.HttpClientTransportOverHTTP2;
import org.eclipse.jetty.io.ClientConnector;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** Jetty's HttpClient over its transport of HTTP/2: {@code java JettyClient BASE CA_FILE}. */
final class JettyClient {
    public static void main(String[] words) throws Exception {
        SslContextFactory.Client tls = new SslContextFactory.Client();
        tls.setSslContext(Trust.in(words[1]));
        ClientConnector connector = new ClientConnector();
        connector.setSslContextFactory(tls);
        var transport = new HttpClientTransportOverHTTP2(new HTTP2Client(connector));
        JettyAsking.run(new HttpClient(transport), words[0], HttpVersion.HTTP_2);
    }
}
