package wiretrial.server;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a server presents in TLS, from PEM files.
 *
 * <p>Knows files; must not know any library. Java reads keys as PKCS #8 only: one on an elliptic
 * curve that came as SEC 1 (RFC 5915), as OpenSSL writes it, is put into the envelope that makes it
 * PKCS #8.
 */
public final class Pem {
    private static final Pattern KEY =
            Pattern.compile("-----BEGIN (EC )?PRIVATE KEY-----([^-]+)-----END");
    private static final String[] ALGORITHMS = {"EC", "RSA"};

    private static final int INTEGER = 0x02;
    private static final int OCTETS = 0x04;
    private static final int SEQUENCE = 0x30;
    private static final int PARAMETERS = 0xa0;
    private static final byte[] VERSION = {INTEGER, 1, 0};
    /** 1.2.840.10045.2.1 */
    private static final byte[] ELLIPTIC = {6, 7, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 2, 1};

    private Pem() {}

    /** The certificates of a file, the server's own first. */
    public static X509Certificate[] chain(Path file) throws IOException, GeneralSecurityException {
        try (InputStream in = Files.newInputStream(file)) {
            return CertificateFactory.getInstance("X.509")
                    .generateCertificates(in)
                    .toArray(new X509Certificate[0]);
        }
    }

    /** The private key of a file. */
    public static PrivateKey key(Path file) throws IOException, GeneralSecurityException {
        Matcher found = KEY.matcher(Files.readString(file));
        if (!found.find()) {
            throw new InvalidKeySpecException(file + " holds no key as PKCS #8 or SEC 1");
        }
        byte[] bytes = Base64.getMimeDecoder().decode(found.group(2));
        var spec = new PKCS8EncodedKeySpec(found.group(1) == null ? bytes : enveloped(bytes));
        for (String algorithm : ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(spec);
            } catch (InvalidKeySpecException another) {
                // The key does not say in advance of which kind it is.
                continue;
            }
        }
        throw new InvalidKeySpecException(file + " holds neither an EC nor an RSA key");
    }

    /** PKCS #8: version, algorithm and curve, and the key as it was. */
    private static byte[] enveloped(byte[] key) {
        byte[] algorithm = encode(SEQUENCE, ELLIPTIC, curve(key));
        return encode(SEQUENCE, VERSION, algorithm, encode(OCTETS, key));
    }

    /** The name of the curve, which stands behind the version and the secret. */
    private static byte[] curve(byte[] key) {
        ByteBuffer in = ByteBuffer.wrap(key);
        enter(in, SEQUENCE);
        skip(in, INTEGER);
        skip(in, OCTETS);
        byte[] curve = new byte[enter(in, PARAMETERS)];
        in.get(curve);
        return curve;
    }

    private static void skip(ByteBuffer in, int tag) {
        int length = enter(in, tag);
        in.position(in.position() + length);
    }

    /** Reads a tag and the length of what it holds. */
    private static int enter(ByteBuffer in, int tag) {
        if (Byte.toUnsignedInt(in.get()) != tag) {
            throw new IllegalArgumentException("a key that is no SEC 1, or names no curve");
        }
        int length = Byte.toUnsignedInt(in.get());
        if (length < 0x80) {
            return length;
        }
        int following = length - 0x80;
        length = 0;
        for (int at = 0; at < following; at++) {
            length = length << 8 | Byte.toUnsignedInt(in.get());
        }
        return length;
    }

    private static byte[] encode(int tag, byte[]... parts) {
        var content = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            content.writeBytes(part);
        }
        int length = content.size();
        var out = new ByteArrayOutputStream();
        out.write(tag);
        if (length >= 0x100) {
            throw new IllegalArgumentException("a key longer than any on a known curve");
        }
        if (length >= 0x80) {
            // What follows is the length, in one byte.
            out.write(0x81);
        }
        out.write(length);
        out.writeBytes(content.toByteArray());
        return out.toByteArray();
    }
}
