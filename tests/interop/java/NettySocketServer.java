import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameDecoder;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameEncoder;
import io.netty.handler.codec.http.websocketx.WebSocketDecoderConfig;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import wiretrial.server.Pem;

/**
 * An echo over WebSocket with Netty: its codec of frames on the channel of a stream of HTTP/2, for which it has no handler
 * of its own. {@code java NettySocketServer CERT KEY} says {@code ready http=IP:PORT https=IP:PORT}.
 */
final class NettySocketServer {
    private static final int LARGEST_MESSAGE = 2 << 20;
    /** SETTINGS_ENABLE_CONNECT_PROTOCOL. */
    private static final char ENABLE = 8;

    private NettySocketServer() {}

    public static void main(String[] words) throws Exception {
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        Channel plain = listen(loops, null);
        Channel secure = listen(loops, tls(Path.of(words[0]), Path.of(words[1])));
        System.out.printf(
                "ready http=127.0.0.1:%d https=127.0.0.1:%d%n", port(plain), port(secure));
        plain.closeFuture().sync();
    }

    private static Channel listen(EventLoopGroup loops, SslContext tls) throws InterruptedException {
        return new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new Connection(tls))
                .bind("127.0.0.1", 0)
                .sync()
                .channel();
    }

    private static int port(Channel channel) {
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    private static SslContext tls(Path chain, Path key) throws Exception {
        return SslContextBuilder.forServer(Pem.key(key), Pem.chain(chain))
                .sslProvider(SslProvider.JDK)
                .applicationProtocolConfig(
                        new ApplicationProtocolConfig(
                                Protocol.ALPN,
                                SelectorFailureBehavior.NO_ADVERTISE,
                                SelectedListenerFailureBehavior.ACCEPT,
                                ApplicationProtocolNames.HTTP_2))
                .build();
    }

    /** HTTP/2, inside TLS where there is a context for it. */
    @Sharable
    private static final class Connection extends ChannelInitializer<Channel> {
        private final SslContext tls;

        Connection(SslContext tls) {
            this.tls = tls;
        }

        @Override
        protected void initChannel(Channel channel) {
            if (tls != null) {
                channel.pipeline().addLast(tls.newHandler(channel.alloc()));
            }
            Http2FrameCodecBuilder codec = Http2FrameCodecBuilder.forServer();
            codec.initialSettings().put(ENABLE, Long.valueOf(1));
            channel.pipeline()
                    .addLast(codec.build())
                    .addLast(new Http2MultiplexHandler(new Stream()));
        }

        /** The peer is gone, or broke the protocol. */
        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }

    @Sharable
    private static final class Stream extends ChannelInitializer<Channel> {
        @Override
        protected void initChannel(Channel stream) {
            var reading =
                    WebSocketDecoderConfig.newBuilder()
                            .expectMaskedFrames(true)
                            .maxFramePayloadLength(LARGEST_MESSAGE)
                            .build();
            stream.pipeline()
                    .addLast(new Tunnel())
                    .addLast(new WebSocket13FrameDecoder(reading))
                    .addLast(new WebSocket13FrameEncoder(false))
                    .addLast(new WebSocketFrameAggregator(LARGEST_MESSAGE))
                    .addLast(new Echo());
        }
    }

    /** Accepts CONNECT to WebSocket; from there on the content of the stream is bytes. */
    private static final class Tunnel extends ChannelDuplexHandler {
        @Override
        public void channelRead(ChannelHandlerContext context, Object frame) {
            if (frame instanceof Http2DataFrame data) {
                context.fireChannelRead(data.content());
            } else if (frame instanceof Http2HeadersFrame head) {
                boolean isWanted = isWebSocket(head.headers());
                Http2Headers answer = new DefaultHttp2Headers().status(isWanted ? "200" : "404");
                context.writeAndFlush(new DefaultHttp2HeadersFrame(answer, !isWanted));
            } else {
                ReferenceCountUtil.release(frame);
            }
        }

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            boolean isContent = message instanceof ByteBuf;
            context.write(isContent ? new DefaultHttp2DataFrame((ByteBuf) message) : message, promise);
        }

        private static boolean isWebSocket(Http2Headers asked) {
            return "CONNECT".contentEquals(asked.method())
                    && "websocket".equals(String.valueOf(asked.get(":protocol")));
        }
    }

    private static final class Echo extends SimpleChannelInboundHandler<WebSocketFrame> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, WebSocketFrame frame) {
            if (frame instanceof PongWebSocketFrame) {
                return;
            }
            if (frame instanceof PingWebSocketFrame) {
                context.writeAndFlush(new PongWebSocketFrame(frame.content().retain()));
                return;
            }
            context.write(frame.retain());
            if (frame instanceof CloseWebSocketFrame) {
                context.write(new DefaultHttp2DataFrame(true));
            }
            context.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }
}
