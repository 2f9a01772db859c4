package wiretrial.subjects.grpcjava;

import io.grpc.Server;
import io.grpc.internal.GrpcUtil;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import wiretrial.server.Options;
import wiretrial.server.Pem;

/**
 * wiretrial.Echo with grpc-java on one port, and inside TLS on another.
 *
 * <p>Knows ports, TLS and options; must not know methods.
 *
 * <p>{@code --host H --port P --tls-port P --cert FILE --key FILE --threads N [--tuned]}
 */
public final class Main {
    private static final int STREAMS = 1000;
    private static final int WINDOW = 1 << 20;

    private Main() {}

    public static void main(String[] words) throws Exception {
        if (words.length == 1 && words[0].equals("--version")) {
            System.out.println(GrpcUtil.getGrpcBuildVersion().getImplementationVersion());
            return;
        }
        Options options = Options.readOrExit(words);
        Server plain = served(options, options.port()).build().start();
        served(options, options.tlsPort()).sslContext(tls(options)).build().start();
        plain.awaitTermination();
    }

    private static NettyServerBuilder served(Options options, int port) {
        var address = new InetSocketAddress(options.host(), port);
        var builder = NettyServerBuilder.forAddress(address).addService(new Echo());
        if (options.tuned()) {
            builder.directExecutor();
            builder.maxConcurrentCallsPerConnection(STREAMS);
            builder.initialFlowControlWindow(WINDOW);
        }
        return builder;
    }

    private static SslContext tls(Options options) throws IOException, GeneralSecurityException {
        var identity = SslContextBuilder.forServer(Pem.key(options.key()), Pem.chain(options.cert()));
        return GrpcSslContexts.configure(identity).build();
    }
}
