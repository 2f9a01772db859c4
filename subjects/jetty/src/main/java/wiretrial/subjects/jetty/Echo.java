package wiretrial.subjects.jetty;

import java.nio.ByteBuffer;
import org.eclipse.jetty.websocket.api.Callback;
import org.eclipse.jetty.websocket.api.Session;

/**
 * A WebSocket that sends each message back, and asks for the next when that is done.
 *
 * <p>Knows messages; must not know connections. Public, as Jetty looks up its methods from outside.
 */
public final class Echo implements Session.Listener {
    private Session session;

    @Override
    public void onWebSocketOpen(Session session) {
        this.session = session;
        session.demand();
    }

    @Override
    public void onWebSocketText(String message) {
        session.sendText(message, Callback.from(session::demand, this::giveUp));
    }

    @Override
    public void onWebSocketBinary(ByteBuffer message, Callback callback) {
        Callback sent =
                Callback.from(
                        () -> {
                            // From here on the bytes are Jetty's again.
                            callback.succeed();
                            session.demand();
                        },
                        callback::fail);
        session.sendBinary(message, sent);
    }

    /** The connection ends by itself; without this method each would be logged. */
    @Override
    public void onWebSocketError(Throwable cause) {}

    private void giveUp(Throwable cause) {
        session.disconnect();
    }
}
