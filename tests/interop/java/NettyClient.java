import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.File;
import java.net.URI;
import java.util.concurrent.CompletableFuture;

/** Netty's codec of HTTP/2 with a channel per stream, as a client: {@code java NettyClient BASE CA_FILE}. */
final class NettyClient {
    public static void main(String[] words) throws Exception {
        URI base = URI.create(words[0]);
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        SslContext tls = base.getScheme().equals("https") ? trusting(new File(words[1])) : null;
        Channel connection =
                new Bootstrap()
                        .group(loop)
                        .channel(NioSocketChannel.class)
                        .handler(new Connection(tls, base))
                        .connect(base.getHost(), base.getPort())
                        .sync()
                        .channel();
        if (tls != null) {
            SslHandler agreed = connection.pipeline().get(SslHandler.class);
            agreed.handshakeFuture().sync();
            Checks.check("alpn", ApplicationProtocolNames.HTTP_2.equals(agreed.applicationProtocol()));
        }
        Checks.run((path, body) -> ask(connection, base.getAuthority(), path, body));
        loop.shutdownGracefully();
    }

    private static CompletableFuture<byte[]> ask(
            Channel connection, String authority, String path, byte[] body) {
        CompletableFuture<byte[]> answer = new CompletableFuture<>();
        var stream = new Http2StreamChannelBootstrap(connection).handler(new Stream(answer)).open();
        NettyRequest.send(stream, authority, path, body, answer);
        return answer;
    }

    private static SslContext trusting(File authority) throws Exception {
        return SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .trustManager(authority)
                .applicationProtocolConfig(
                        new ApplicationProtocolConfig(
                                Protocol.ALPN,
                                SelectorFailureBehavior.NO_ADVERTISE,
                                SelectedListenerFailureBehavior.ACCEPT,
                                ApplicationProtocolNames.HTTP_2))
                .build();
    }

    /** HTTP/2, inside TLS where there is a context for it. */
    private static final class Connection extends ChannelInitializer<Channel> {
        private final SslContext tls;
        private final URI base;

        Connection(SslContext tls, URI base) {
            this.tls = tls;
            this.base = base;
        }

        @Override
        protected void initChannel(Channel channel) {
            if (tls != null) {
                channel.pipeline()
                        .addLast(tls.newHandler(channel.alloc(), base.getHost(), base.getPort()));
            }
            channel.pipeline()
                    .addLast(Http2FrameCodecBuilder.forClient().build())
                    .addLast(new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()));
        }
    }

    /** One request's stream, with the messages of HTTP/1.1 in place of its frames. */
    private static final class Stream extends ChannelInitializer<Channel> {
        private final CompletableFuture<byte[]> answer;

        Stream(CompletableFuture<byte[]> answer) {
            this.answer = answer;
        }

        @Override
        protected void initChannel(Channel stream) {
            stream.pipeline()
                    .addLast(new Http2StreamFrameToHttpObjectCodec(false))
                    .addLast(new HttpObjectAggregator(NettyReply.LARGEST))
                    .addLast(new NettyReply(answer));
        }
    }
}
