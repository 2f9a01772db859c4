import java.io.FileInputStream;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** TLS that trusts one authority. */
final class Trust {
    private Trust() {}

    static SSLContext in(String authority) throws Exception {
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store(authority));
        SSLContext made = SSLContext.getInstance("TLS");
        made.init(null, trust.getTrustManagers(), null);
        return made;
    }

    /** Where a library looks for itself. */
    static KeyStore store(String authority) throws Exception {
        KeyStore keys = KeyStore.getInstance(KeyStore.getDefaultType());
        keys.load(null, null);
        try (var file = new FileInputStream(authority)) {
            var certificate = CertificateFactory.getInstance("X.509").generateCertificate(file);
            keys.setCertificateEntry("authority", certificate);
        }
        return keys;
    }
}
