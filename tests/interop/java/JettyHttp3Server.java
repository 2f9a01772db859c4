import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.http3.server.HTTP3ServerConnectionFactory;
import org.eclipse.jetty.http3.server.HTTP3ServerQuicConfiguration;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.quic.quiche.server.QuicheServerConnector;
import org.eclipse.jetty.quic.quiche.server.QuicheServerQuicConfiguration;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.util.Callback;

/**
 * Jetty over HTTP/3: content comes back, and GET gets a line. {@code java JettyHttp3Server CERT KEY FOLDER} says
 * {@code ready https=IP:PORT}. The folder is for what quiche reads as files: certificate and key.
 */
final class JettyHttp3Server {
    private JettyHttp3Server() {}

    public static void main(String[] words) throws Exception {
        Server server = new Server();
        QuicheServerQuicConfiguration quic =
                HTTP3ServerQuicConfiguration.configure(
                        new QuicheServerQuicConfiguration(Path.of(words[2])));
        var connector =
                new QuicheServerConnector(
                        server,
                        JettyKeys.in(Path.of(words[0]), Path.of(words[1])),
                        quic,
                        new HTTP3ServerConnectionFactory());
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(new Echo());
        server.start();
        System.out.printf("ready https=127.0.0.1:%d%n", connector.getLocalPort());
        server.join();
    }

    private static final class Echo extends Handler.Abstract.NonBlocking {
        private static final byte[] LINE = "one line\n".getBytes(StandardCharsets.US_ASCII);

        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            if (HttpMethod.GET.is(request.getMethod())) {
                response.write(true, ByteBuffer.wrap(LINE), callback);
            } else {
                Content.copy(request, response, callback);
            }
            return true;
        }
    }
}
