import java.nio.file.Path;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http3.client.HTTP3Client;
import org.eclipse.jetty.http3.client.HTTP3ClientQuicConfiguration;
import org.eclipse.jetty.http3.client.transport.HttpClientTransportOverHTTP3;
import org.eclipse.jetty.io.ClientConnector;
import org.eclipse.jetty.quic.quiche.client.QuicheClientQuicConfiguration;
import org.eclipse.jetty.quic.quiche.client.QuicheTransport;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/**
 * Jetty's HttpClient over its transport of HTTP/3: {@code java JettyHttp3Client BASE CA_FILE FOLDER}. The folder is
 * for what quiche reads as files: whom to trust.
 */
final class JettyHttp3Client {
    public static void main(String[] words) throws Exception {
        SslContextFactory.Client tls = new SslContextFactory.Client();
        tls.setTrustStore(Trust.store(words[1]));
        ClientConnector connector = new ClientConnector();
        connector.setSslContextFactory(tls);
        QuicheClientQuicConfiguration quic =
                HTTP3ClientQuicConfiguration.configure(
                        new QuicheClientQuicConfiguration(Path.of(words[2])));
        var transport =
                new HttpClientTransportOverHTTP3(
                        new HTTP3Client(quic, connector), new QuicheTransport(quic));
        JettyAsking.run(new HttpClient(transport), words[0], HttpVersion.HTTP_3);
    }
}
