package wiretrial.subjects.nettyhttp2;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http2.Http2SecurityUtil;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import io.netty.util.Version;
import java.io.IOException;
import java.security.GeneralSecurityException;
import wiretrial.server.Options;
import wiretrial.server.Pem;

/**
 * HTTP/2 with Netty on one port; HTTP/2 and HTTP/1.1 inside TLS on another.
 *
 * <p>Knows loops, ports and TLS; must not know framing.
 *
 * <p>{@code --host H --port P --tls-port P --cert FILE --key FILE --threads N [--tuned]}
 */
public final class Main {
    private Main() {}

    public static void main(String[] words) throws Exception {
        if (words.length == 1 && words[0].equals("--version")) {
            System.out.println(Version.identify().get("netty-common").artifactVersion());
            return;
        }
        Options options = Options.readOrExit(words);
        IoHandlerFactory transport =
                options.tuned() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(options.threads(), transport);
        listen(loops, options, options.tlsPort(), tls(options));
        listen(loops, options, options.port(), null).closeFuture().sync();
    }

    private static Channel listen(EventLoopGroup loops, Options options, int port, SslContext tls)
            throws InterruptedException {
        Class<? extends ServerChannel> kind =
                options.tuned() ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
        return new ServerBootstrap()
                .group(loops)
                .channel(kind)
                .childHandler(new Pipeline(tls, options.tuned()))
                .bind(options.host(), port)
                .sync()
                .channel();
    }

    private static SslContext tls(Options options) throws IOException, GeneralSecurityException {
        // Named, for Netty itself takes the native one as soon as it lies on the class path.
        SslProvider provider = options.tuned() ? SslProvider.OPENSSL : SslProvider.JDK;
        return SslContextBuilder.forServer(Pem.key(options.key()), Pem.chain(options.cert()))
                .sslProvider(provider)
                .ciphers(Http2SecurityUtil.CIPHERS, SupportedCipherSuiteFilter.INSTANCE)
                .applicationProtocolConfig(
                        new ApplicationProtocolConfig(
                                Protocol.ALPN,
                                // The only behaviours that both providers have.
                                SelectorFailureBehavior.NO_ADVERTISE,
                                SelectedListenerFailureBehavior.ACCEPT,
                                ApplicationProtocolNames.HTTP_2,
                                ApplicationProtocolNames.HTTP_1_1))
                .build();
    }
}
