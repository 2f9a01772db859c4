import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http3.Http3;
import io.netty.handler.codec.http3.Http3ClientConnectionHandler;
import io.netty.handler.codec.http3.Http3FrameToHttpObjectCodec;
import io.netty.handler.codec.http3.Http3RequestStreamInitializer;
import io.netty.handler.codec.quic.QuicChannel;
import io.netty.handler.codec.quic.QuicSslContext;
import io.netty.handler.codec.quic.QuicSslContextBuilder;
import io.netty.handler.codec.quic.QuicStreamChannel;
import java.io.File;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.CompletableFuture;

/** Netty's codec of HTTP/3 with a channel per stream, as a client: {@code java NettyHttp3Client BASE CA_FILE}. */
final class NettyHttp3Client {
    private static final int WINDOW = 1 << 18;
    private static final int WINDOW_OF_ALL = 1 << 22;

    public static void main(String[] words) throws Exception {
        URI base = URI.create(words[0]);
        QuicSslContext tls =
                QuicSslContextBuilder.forClient()
                        .trustManager(new File(words[1]))
                        .applicationProtocols("h3")
                        .build();
        var codec =
                Http3.newQuicClientCodecBuilder()
                        .sslEngineProvider(
                                quic -> tls.newEngine(quic.alloc(), base.getHost(), base.getPort()))
                        .initialMaxData(WINDOW_OF_ALL)
                        .initialMaxStreamDataBidirectionalLocal(WINDOW)
                        .build();
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            Channel datagrams =
                    new Bootstrap()
                            .group(loop)
                            .channel(NioDatagramChannel.class)
                            .handler(codec)
                            .bind(0)
                            .sync()
                            .channel();
            QuicChannel connection =
                    QuicChannel.newBootstrap(datagrams)
                            .handler(new Http3ClientConnectionHandler())
                            .remoteAddress(new InetSocketAddress(base.getHost(), base.getPort()))
                            .connect()
                            .get();
            Checks.run((path, body) -> ask(connection, base.getAuthority(), path, body));
            connection.close().sync();
        } finally {
            loop.shutdownGracefully(); // Its threads would keep the program alive behind what went wrong.
        }
    }

    private static CompletableFuture<byte[]> ask(
            QuicChannel connection, String authority, String path, byte[] body) {
        CompletableFuture<byte[]> answer = new CompletableFuture<>();
        var stream = Http3.newRequestStream(connection, new Stream(answer));
        NettyRequest.send(stream, authority, path, body, answer);
        return answer;
    }

    /** One request's stream, with the messages of HTTP/1.1 in place of its frames. */
    private static final class Stream extends Http3RequestStreamInitializer {
        private final CompletableFuture<byte[]> answer;

        Stream(CompletableFuture<byte[]> answer) {
            this.answer = answer;
        }

        @Override
        protected void initRequestStream(QuicStreamChannel stream) {
            stream.pipeline()
                    .addLast(new Http3FrameToHttpObjectCodec(false))
                    .addLast(new HttpObjectAggregator(NettyReply.LARGEST))
                    .addLast(new NettyReply(answer));
        }
    }
}
