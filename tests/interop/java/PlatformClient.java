import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

/** java.net.http of the Java platform: {@code java PlatformClient BASE CA_FILE}. */
final class PlatformClient {
    public static void main(String[] words) throws Exception {
        HttpClient client = HttpClient.newBuilder().sslContext(Trust.in(words[1])).build();
        Checks.run(
                (path, body) -> {
                    var request = HttpRequest.newBuilder(URI.create(words[0] + path));
                    if (body.length > 0) {
                        request.POST(BodyPublishers.ofByteArray(body));
                    }
                    return client.sendAsync(request.build(), BodyHandlers.ofByteArray())
                            .thenApply(
                                    reply -> {
                                        boolean isHttp2 = reply.version() == HttpClient.Version.HTTP_2;
                                        if (reply.statusCode() != 200 || !isHttp2) {
                                            throw new IllegalStateException(reply.toString());
                                        }
                                        return reply.body();
                                    });
                });
    }
}
