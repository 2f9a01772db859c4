package wiretrial.subjects.javahttp;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import wiretrial.driver.Client;
import wiretrial.driver.Options;

/** One WebSocket with one message in flight. */
final class SocketClient implements Client {
    private final Options options;
    private final Replies replies = new Replies();
    private HttpClient http;
    private WebSocket socket;

    SocketClient(Options options) {
        this.options = options;
    }

    @Override
    public void open() throws Exception {
        http = HttpClients.make(options);
        socket = http.newWebSocketBuilder().buildAsync(options.url(), replies).get();
    }

    @Override
    public byte[] exchange(byte[] message) throws Exception {
        CompletableFuture<byte[]> reply = replies.next();
        socket.sendBinary(ByteBuffer.wrap(message), true).get();
        return reply.get();
    }

    /** The closing handshake. */
    @Override
    public void close() throws Exception {
        socket.sendClose(WebSocket.NORMAL_CLOSURE, "").get();
        replies.closed.get();
        release();
    }

    @Override
    public void abort() {
        if (socket != null) {
            socket.abort();
        }
        if (http != null) {
            release();
        }
    }

    @Override
    public OptionalLong opened() {
        return OptionalLong.of(socket == null ? 0 : 1);
    }

    private void release() {
        HttpClient unused = http;
        http = null;
        HttpClients.release(unused);
    }

    /** Puts a message's parts together; called by the library's threads. */
    private static final class Replies implements WebSocket.Listener {
        final CompletableFuture<Void> closed = new CompletableFuture<>();

        private final ByteArrayOutputStream parts = new ByteArrayOutputStream();
        private CompletableFuture<byte[]> pending = new CompletableFuture<>();
        private Throwable ended;

        synchronized CompletableFuture<byte[]> next() {
            pending = new CompletableFuture<>();
            if (ended != null) {
                pending.completeExceptionally(ended);
            }
            return pending;
        }

        @Override
        public CompletionStage<?> onBinary(WebSocket socket, ByteBuffer data, boolean last) {
            byte[] part = new byte[data.remaining()];
            data.get(part);
            socket.request(1);
            take(part, last);
            return null;
        }

        @Override
        public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
            end(new IOException("wrong reply: a text message instead of a binary one"));
            return null;
        }

        @Override
        public CompletionStage<?> onClose(WebSocket socket, int status, String reason) {
            closed.complete(null);
            end(new IOException("the server closed, status " + status));
            return null;
        }

        @Override
        public void onError(WebSocket socket, Throwable error) {
            closed.complete(null);
            end(error);
        }

        private synchronized void take(byte[] part, boolean last) {
            parts.writeBytes(part);
            if (last) {
                byte[] whole = parts.toByteArray();
                parts.reset();
                pending.complete(whole);
            }
        }

        /** Whatever is awaited, now or later, fails with the first reason. */
        private synchronized void end(Throwable error) {
            if (ended == null) {
                ended = error;
            }
            pending.completeExceptionally(ended);
        }
    }
}
