package wiretrial.driver;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * What to do, as the command line in subjects/_contract/README.md says it.
 *
 * <p>Knows words and files; must not know any library.
 *
 * @param expected the right reply
 * @param trust the only authority to trust; null without TLS
 * @param http2 HTTP/2 and nothing else
 */
public record Options(
        URI url,
        byte[] message,
        byte[] expected,
        TrustManagerFactory trust,
        boolean kept,
        int warmup,
        int iterations,
        int repetitions,
        Duration timeout,
        boolean http2,
        boolean tuned) {

    private static final Set<String> VALUES =
            Set.of(
                    "--url",
                    "--payload",
                    "--warmup",
                    "--iterations",
                    "--repetitions",
                    "--mode",
                    "--cacert",
                    "--expect",
                    "--timeout",
                    "--http");

    /** TLS of its own for one client, so that no session is taken up again. */
    public SSLContext tls() throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    static Options read(List<String> schemes, List<String> words) throws UsageException {
        Map<String, String> given = split(words);
        URI url = readUrl(schemes, given.get("--url"));
        byte[] message = message(count(given, "--payload", 0));
        boolean page = url.getScheme().startsWith("http") && message.length == 0;
        boolean secure = List.of("https", "wss", "grpcs").contains(url.getScheme());
        String mode = given.getOrDefault("--mode", "");
        if (!mode.equals("kept") && !mode.equals("fresh")) {
            throw new UsageException("--mode: kept or fresh");
        }
        String http = given.getOrDefault("--http", "1.1");
        if (!http.equals("1.1") && !http.equals("2")) {
            throw new UsageException("--http: 1.1 or 2");
        }
        return new Options(
                url,
                message,
                page ? content(given.get("--expect")) : message,
                secure ? trust(given.get("--cacert")) : null,
                mode.equals("kept"),
                count(given, "--warmup", 0),
                count(given, "--iterations", 1),
                count(given, "--repetitions", 1),
                seconds(given.getOrDefault("--timeout", "10")),
                http.equals("2"),
                given.containsKey("--tuned"));
    }

    private static Map<String, String> split(List<String> words) throws UsageException {
        Map<String, String> given = new HashMap<>();
        for (int at = 0; at < words.size(); at++) {
            String word = words.get(at);
            if (word.equals("--tuned")) {
                given.put(word, "");
            } else if (!VALUES.contains(word)) {
                throw new UsageException("unknown argument " + word);
            } else if (++at == words.size()) {
                throw new UsageException(word + ": a value is needed");
            } else {
                given.put(word, words.get(at));
            }
        }
        return given;
    }

    private static URI readUrl(List<String> schemes, String text) throws UsageException {
        try {
            URI url = URI.create(text == null ? "" : text);
            if (schemes.contains(url.getScheme()) && url.getHost() != null) {
                return url;
            }
        } catch (IllegalArgumentException notAUrl) {
            // Said below.
        }
        throw new UsageException("--url: " + String.join(" or ", schemes) + " is needed");
    }

    private static byte[] message(int size) {
        byte[] message = new byte[size];
        for (int i = 0; i < size; i++) {
            message[i] = (byte) (33 + i % 90);
        }
        return message;
    }

    private static int count(Map<String, String> given, String name, int least)
            throws UsageException {
        try {
            int number = Integer.parseInt(given.getOrDefault(name, ""));
            if (number >= least) {
                return number;
            }
        } catch (NumberFormatException notANumber) {
            // Said below.
        }
        throw new UsageException(name + ": a whole number from " + least + " is needed");
    }

    private static Duration seconds(String text) throws UsageException {
        try {
            double seconds = Double.parseDouble(text);
            if (seconds > 0 && seconds <= 1e6) {
                return Duration.ofNanos((long) (seconds * 1e9));
            }
        } catch (NumberFormatException notANumber) {
            // Said below.
        }
        throw new UsageException("--timeout: seconds above 0 are needed, at most 1000000");
    }

    private static byte[] content(String path) throws UsageException {
        if (path == null) {
            throw new UsageException("--expect: needed for a GET (--payload 0)");
        }
        try {
            return Files.readAllBytes(Path.of(path));
        } catch (IOException error) {
            throw new UsageException("--expect: can't read " + path);
        }
    }

    private static TrustManagerFactory trust(String path) throws UsageException {
        if (path == null) {
            throw new UsageException("--cacert: needed for TLS");
        }
        try (InputStream content = Files.newInputStream(Path.of(path))) {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null);
            int number = 0;
            for (var one : CertificateFactory.getInstance("X.509").generateCertificates(content)) {
                store.setCertificateEntry("authority-" + number++, one);
            }
            if (number == 0) {
                throw new UsageException("--cacert: no certificate in " + path);
            }
            String algorithm = TrustManagerFactory.getDefaultAlgorithm();
            TrustManagerFactory factory = TrustManagerFactory.getInstance(algorithm);
            factory.init(store);
            return factory;
        } catch (IOException | GeneralSecurityException error) {
            throw new UsageException("--cacert: can't read certificates from " + path);
        }
    }
}
