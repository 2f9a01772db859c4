import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http3.Http3;
import io.netty.handler.codec.http3.Http3FrameToHttpObjectCodec;
import io.netty.handler.codec.http3.Http3ServerConnectionHandler;
import io.netty.handler.codec.quic.InsecureQuicTokenHandler;
import io.netty.handler.codec.quic.QuicChannel;
import io.netty.handler.codec.quic.QuicSslContext;
import io.netty.handler.codec.quic.QuicSslContextBuilder;
import io.netty.handler.codec.quic.QuicStreamChannel;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import wiretrial.server.Pem;

/**
 * Netty's codec of HTTP/3 as a server: content comes back, and GET gets a line. Each client has to show its address
 * first (Retry). {@code java NettyHttp3Server CERT KEY} says {@code ready https=IP:PORT}.
 */
final class NettyHttp3Server {
    private static final int LARGEST_REQUEST = 2 << 20;
    private static final int STREAMS = 100;
    private static final int WINDOW = 1 << 18;
    private static final int WINDOW_OF_ALL = 1 << 22;

    private NettyHttp3Server() {}

    public static void main(String[] words) throws Exception {
        QuicSslContext tls =
                QuicSslContextBuilder.forServer(
                                Pem.key(Path.of(words[1])), null, Pem.chain(Path.of(words[0])))
                        .applicationProtocols("h3")
                        .build();
        var codec =
                Http3.newQuicServerCodecBuilder()
                        .sslContext(tls)
                        .initialMaxData(WINDOW_OF_ALL)
                        .initialMaxStreamDataBidirectionalRemote(WINDOW)
                        .initialMaxStreamsBidirectional(STREAMS)
                        .tokenHandler(InsecureQuicTokenHandler.INSTANCE)
                        .handler(new Connection())
                        .build();
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        Channel datagrams =
                new Bootstrap()
                        .group(loop)
                        .channel(NioDatagramChannel.class)
                        .handler(codec)
                        .bind("127.0.0.1", 0)
                        .sync()
                        .channel();
        int port = ((InetSocketAddress) datagrams.localAddress()).getPort();
        System.out.printf("ready https=127.0.0.1:%d%n", port);
        datagrams.closeFuture().sync();
    }

    @Sharable
    private static final class Connection extends ChannelInitializer<QuicChannel> {
        @Override
        protected void initChannel(QuicChannel connection) {
            connection.pipeline().addLast(new Http3ServerConnectionHandler(new Stream()));
        }
    }

    /** One request's stream, with the messages of HTTP/1.1 in place of its frames. */
    @Sharable
    private static final class Stream extends ChannelInitializer<QuicStreamChannel> {
        @Override
        protected void initChannel(QuicStreamChannel stream) {
            stream.pipeline()
                    .addLast(new Http3FrameToHttpObjectCodec(true))
                    .addLast(new HttpObjectAggregator(LARGEST_REQUEST))
                    .addLast(new Echo());
        }
    }

    private static final class Echo extends SimpleChannelInboundHandler<FullHttpRequest> {
        private static final byte[] LINE = "one line\n".getBytes(StandardCharsets.US_ASCII);

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            boolean isGet = request.method().equals(HttpMethod.GET);
            ByteBuf content = isGet ? Unpooled.wrappedBuffer(LINE) : request.content().retain();
            var reply =
                    new DefaultFullHttpResponse(
                            HttpVersion.HTTP_1_1, HttpResponseStatus.OK, content);
            reply.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes());
            context.writeAndFlush(reply);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }
}
