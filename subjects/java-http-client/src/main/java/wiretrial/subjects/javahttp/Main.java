package wiretrial.subjects.javahttp;

import java.util.List;
import wiretrial.driver.Driver;

/**
 * A client driver around java.net.http: its HttpClient, and its WebSocket.
 *
 * <p>Knows java.net.http; must not know how it is measured.
 */
public final class Main {
    private Main() {}

    public static void main(String[] words) {
        System.exit(
                Driver.drive(
                        "java-http-client",
                        "java.net.http of Java " + System.getProperty("java.version"),
                        List.of("http", "https", "ws", "wss"),
                        words,
                        options ->
                                options.url().getScheme().startsWith("ws")
                                        ? new SocketClient(options)
                                        : new RequestClient(options)));
    }
}
