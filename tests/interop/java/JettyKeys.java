import java.nio.file.Path;
import java.security.KeyStore;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import wiretrial.server.Pem;

/** What a server of Jetty presents in TLS. */
final class JettyKeys {
    /** A store of keys can't do without; this one never leaves the process. */
    private static final String PASSWORD = "in memory";

    private JettyKeys() {}

    static SslContextFactory.Server in(Path chain, Path key) throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, null);
        keys.setKeyEntry("server", Pem.key(key), PASSWORD.toCharArray(), Pem.chain(chain));
        var tls = new SslContextFactory.Server();
        tls.setKeyStore(keys);
        tls.setKeyStorePassword(PASSWORD);
        return tls;
    }
}
