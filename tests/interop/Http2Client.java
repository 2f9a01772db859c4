import java.io.FileInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Asks the reference server with java.net.http over HTTP/2, and says {@code ok NAME} for each thing that was right.
 *
 * <p>{@code java Http2Client.java BASE CA_FILE}
 */
final class Http2Client {
    private static final int AT_ONCE = 50;

    public static void main(String[] words) throws Exception {
        HttpClient client = HttpClient.newBuilder().sslContext(trusting(words[1])).build();
        HttpRequest get = HttpRequest.newBuilder(URI.create(words[0] + "/message")).build();
        HttpResponse<byte[]> message = client.send(get, BodyHandlers.ofByteArray());
        check("get", message.body().length == 64 && message.version() == HttpClient.Version.HTTP_2);

        for (int size : new int[] {1000, 1 << 20}) {
            byte[] sent = content(size);
            byte[] echoed = client.send(post(words[0], sent), BodyHandlers.ofByteArray()).body();
            check(size > 1000 ? "post-large" : "post", Arrays.equals(sent, echoed));
        }

        byte[] sent = content(1000);
        var asked =
                IntStream.range(0, AT_ONCE)
                        .mapToObj(at -> client.sendAsync(post(words[0], sent), BodyHandlers.ofByteArray()))
                        .toList();
        CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new)).join();
        check("streams", asked.stream().allMatch(one -> Arrays.equals(one.join().body(), sent)));
    }

    private static HttpRequest post(String base, byte[] body) {
        return HttpRequest.newBuilder(URI.create(base + "/echo"))
                .POST(BodyPublishers.ofByteArray(body))
                .build();
    }

    private static void check(String name, boolean isRight) {
        if (!isRight) {
            throw new AssertionError(name);
        }
        System.out.println("ok " + name);
    }

    private static byte[] content(int size) {
        byte[] made = new byte[size];
        for (int at = 0; at < size; at++) {
            made[at] = (byte) (33 + (at * 7 + at / 90) % 90);
        }
        return made;
    }

    private static SSLContext trusting(String authority) throws Exception {
        KeyStore keys = KeyStore.getInstance(KeyStore.getDefaultType());
        keys.load(null, null);
        try (var file = new FileInputStream(authority)) {
            var certificate = CertificateFactory.getInstance("X.509").generateCertificate(file);
            keys.setCertificateEntry("authority", certificate);
        }
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(keys);
        SSLContext made = SSLContext.getInstance("TLS");
        made.init(null, trust.getTrustManagers(), null);
        return made;
    }
}
