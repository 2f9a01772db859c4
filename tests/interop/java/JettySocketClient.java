import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.http2.client.HTTP2Client;
import org.eclipse.jetty.http2.client.transport.HttpClientTransportOverHTTP2;
import org.eclipse.jetty.io.ClientConnector;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.websocket.api.Callback;
import org.eclipse.jetty.websocket.api.Session;
import org.eclipse.jetty.websocket.client.WebSocketClient;

/** Jetty's WebSocketClient over its transport of HTTP/2: {@code java JettySocketClient BASE CA_FILE}. */
public final class JettySocketClient {
    private static final int AT_ONCE = 20;
    private static final int LARGE = 1 << 20;
    private static final int LIMIT_S = 30;
    /** HTTP/1.1 would have answered with 101. */
    private static final int ACCEPTED = 200;

    private JettySocketClient() {}

    public static void main(String[] words) throws Exception {
        SslContextFactory.Client tls = new SslContextFactory.Client();
        tls.setSslContext(Trust.in(words[1]));
        ClientConnector connector = new ClientConnector();
        connector.setSslContextFactory(tls);
        HttpClient http = new HttpClient(new HttpClientTransportOverHTTP2(new HTTP2Client(connector)));
        http.setMaxConnectionsPerDestination(1);
        WebSocketClient client = new WebSocketClient(http);
        client.setMaxBinaryMessageSize(2 * LARGE);
        client.start();
        try {
            talks(client, words[0] + "/chat");
        } finally {
            client.stop(); // Its threads would keep the program alive behind what went wrong.
        }
    }

    private static void talks(WebSocketClient client, String url) throws Exception {
        List<Socket> sockets = new ArrayList<>();
        for (int at = 0; at < AT_ONCE; at++) {
            Socket socket = new Socket();
            client.connect(socket, URI.create(url)).get(LIMIT_S, TimeUnit.SECONDS);
            sockets.add(socket);
        }
        Checks.check(
                "accepted",
                sockets.stream()
                        .allMatch(one -> one.session.getUpgradeResponse().getStatusCode() == ACCEPTED));
        Checks.check("text", echoes(sockets, "grüß"));
        Socket first = sockets.get(0);
        boolean isRight = true;
        for (int size : new int[] {1000, 0, LARGE}) {
            ByteBuffer sent = ByteBuffer.wrap(content(size));
            first.send((session, done) -> session.sendBinary(sent.slice(), done));
            isRight &= first.hears(sent);
        }
        Checks.check("binary", isRight);
        first.send((session, done) -> session.sendPartialText("in ", false, done));
        first.send((session, done) -> session.sendPartialText("parts", true, done));
        Checks.check("fragments", first.hears("in parts"));
        ByteBuffer asked = StandardCharsets.UTF_8.encode("are you there?");
        first.send((session, done) -> session.sendPing(asked, done));
        Checks.check("ping", first.hears("pong are you there?"));
        // Jetty fails its own callback of a close where the answer is faster than the callback's thread.
        first.session.close(4000, "enough", Callback.NOOP);
        Checks.check("close-4000", first.hears("closed 4000"));
        Checks.check("others", echoes(sockets.subList(1, AT_ONCE), "still"));
    }

    /** A message goes out on each, and only then is anything heard. */
    private static boolean echoes(List<Socket> sockets, String text) throws Exception {
        for (int at = 0; at < sockets.size(); at++) {
            String sent = text + at;
            sockets.get(at).send((session, done) -> session.sendText(sent, done));
        }
        boolean isRight = true;
        for (int at = 0; at < sockets.size(); at++) {
            isRight &= sockets.get(at).hears(text + at);
        }
        return isRight;
    }

    private static byte[] content(int size) {
        byte[] made = new byte[size];
        for (int at = 0; at < size; at++) {
            made[at] = (byte) (at * 7 + at / 90);
        }
        return made;
    }

    /** One WebSocket and what came on it. Public, as Jetty looks up its methods from outside. */
    public static final class Socket implements Session.Listener.AutoDemanding {
        private final BlockingQueue<Object> heard = new LinkedBlockingQueue<>();
        private volatile Session session;

        void send(BiConsumer<Session, Callback> what) throws Exception {
            Callback.Completable.with(done -> what.accept(session, done)).get(LIMIT_S, TimeUnit.SECONDS);
        }

        boolean hears(Object wanted) throws InterruptedException {
            return wanted.equals(heard.poll(LIMIT_S, TimeUnit.SECONDS));
        }

        @Override
        public void onWebSocketOpen(Session session) {
            this.session = session;
        }

        @Override
        public void onWebSocketText(String message) {
            heard.add(message);
        }

        @Override
        public void onWebSocketBinary(ByteBuffer message, Callback callback) {
            heard.add(ByteBuffer.allocate(message.remaining()).put(message).flip());
            callback.succeed();
        }

        @Override
        public void onWebSocketPong(ByteBuffer payload) {
            heard.add("pong " + StandardCharsets.UTF_8.decode(payload));
        }

        @Override
        public void onWebSocketClose(int status, String reason, Callback callback) {
            heard.add("closed " + status);
            callback.succeed();
        }
    }
}
