package wiretrial.subjects.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.ssl.SslContext;

/**
 * What stands between a socket and its echo.
 *
 * <p>Knows framing; must not know ports or files.
 */
final class Pipeline extends ChannelInitializer<Channel> {
    private static final int LARGEST_MESSAGE = 128 << 20;
    private static final int LARGEST_REQUEST = 64 << 10;
    private static final WebSocketServerProtocolConfig PROTOCOL =
            WebSocketServerProtocolConfig.newBuilder()
                    .websocketPath("/")
                    .maxFramePayloadLength(LARGEST_MESSAGE)
                    .build();
    private static final NotFound NOT_FOUND = new NotFound();
    private static final Echo ECHO = new Echo();

    private final SslContext tls;
    private final boolean tuned;

    /** Without TLS where {@code tls} is null. */
    Pipeline(SslContext tls, boolean tuned) {
        this.tls = tls;
        this.tuned = tuned;
    }

    @Override
    protected void initChannel(Channel channel) {
        ChannelPipeline pipeline = channel.pipeline();
        if (tuned) {
            // Nearest to the socket, so that it holds back what TLS flushes too.
            pipeline.addLast(new FlushConsolidationHandler());
        }
        if (tls != null) {
            pipeline.addLast(tls.newHandler(channel.alloc()));
        }
        pipeline.addLast(new HttpServerCodec())
                .addLast(new HttpObjectAggregator(LARGEST_REQUEST))
                .addLast(new WebSocketServerProtocolHandler(PROTOCOL))
                .addLast(NOT_FOUND)
                .addLast(ECHO);
    }

    /** Sends each frame of a message back; pings and closes were answered before. */
    @Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object frame) {
            context.writeAndFlush(frame);
        }

        /** A peer that is gone or broke the protocol; this one has been told where it could be. */
        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }

    /** Answers what asks for another path. */
    @Sharable
    private static final class NotFound extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            FullHttpResponse refusal =
                    new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.NOT_FOUND);
            HttpUtil.setContentLength(refusal, 0);
            refusal.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
            context.writeAndFlush(refusal).addListener(ChannelFutureListener.CLOSE);
        }
    }
}
