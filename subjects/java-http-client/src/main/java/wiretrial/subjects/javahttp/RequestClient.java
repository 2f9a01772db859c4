package wiretrial.subjects.javahttp;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.OptionalLong;
import wiretrial.driver.Client;
import wiretrial.driver.Options;

/** Requests by HTTP. */
final class RequestClient implements Client {
    private final Options options;
    private HttpClient http;

    RequestClient(Options options) {
        this.options = options;
    }

    /** The first request opens the connection: the library has no call that only connects. */
    @Override
    public void open() throws Exception {
        http = HttpClients.make(options);
    }

    @Override
    public byte[] exchange(byte[] message) throws Exception {
        HttpResponse<byte[]> response = http.send(request(message), BodyHandlers.ofByteArray());
        if (response.statusCode() != 200) {
            throw new IOException("status " + response.statusCode() + " instead of 200");
        }
        if (options.http2() && response.version() != HttpClient.Version.HTTP_2) {
            throw new IOException(response.version() + " instead of HTTP_2");
        }
        return response.body();
    }

    @Override
    public void close() {
        HttpClient unused = http;
        http = null;
        HttpClients.release(unused);
    }

    @Override
    public void abort() {
        if (http != null) {
            close();
        }
    }

    @Override
    public OptionalLong opened() {
        return OptionalLong.empty();
    }

    private HttpRequest request(byte[] message) {
        URI url = options.url();
        if (message.length == 0) {
            return HttpRequest.newBuilder(url).build();
        }
        return HttpRequest.newBuilder(url).POST(BodyPublishers.ofByteArray(message)).build();
    }
}
