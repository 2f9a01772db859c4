package wiretrial.subjects.nettyhttp2;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslContext;

/**
 * What stands between a socket and the routes.
 *
 * <p>Knows framing; must not know ports or files.
 */
final class Pipeline extends ChannelInitializer<Channel> {
    private static final int LARGEST_MESSAGE = 128 << 20;
    private static final long STREAMS = 1000;
    private static final int WINDOW = 1 << 20;
    private static final Routes ROUTES = new Routes();
    private static final Streams STREAM = new Streams();

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
        if (tls == null) {
            speakHttp2(pipeline);
        } else {
            pipeline.addLast(tls.newHandler(channel.alloc())).addLast(new Agreed());
        }
    }

    private void speakHttp2(ChannelPipeline pipeline) {
        Http2FrameCodecBuilder codec = Http2FrameCodecBuilder.forServer();
        if (tuned) {
            codec.initialSettings().maxConcurrentStreams(STREAMS).initialWindowSize(WINDOW);
        }
        pipeline.addLast(codec.build()).addLast(new Http2MultiplexHandler(STREAM));
    }

    private static void speakHttp1(ChannelPipeline pipeline) {
        pipeline.addLast(new HttpServerCodec())
                .addLast(new HttpServerKeepAliveHandler())
                .addLast(new HttpObjectAggregator(LARGEST_MESSAGE))
                .addLast(ROUTES);
    }

    /** What ALPN has chosen; HTTP/1.1 for who offers nothing. */
    private final class Agreed extends ApplicationProtocolNegotiationHandler {
        Agreed() {
            super(ApplicationProtocolNames.HTTP_1_1);
        }

        @Override
        protected void configurePipeline(ChannelHandlerContext context, String protocol) {
            if (protocol.equals(ApplicationProtocolNames.HTTP_2)) {
                speakHttp2(context.pipeline());
            } else {
                speakHttp1(context.pipeline());
            }
        }

        /** A peer that broke off or has no TLS; it gets no line in the log. */
        @Override
        protected void handshakeFailure(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }

    /** A stream of HTTP/2, with the messages of HTTP/1.1 in place of its frames. */
    @Sharable
    private static final class Streams extends ChannelInitializer<Channel> {
        @Override
        protected void initChannel(Channel stream) {
            stream.pipeline()
                    .addLast(new Http2StreamFrameToHttpObjectCodec(true))
                    .addLast(new HttpObjectAggregator(LARGEST_MESSAGE))
                    .addLast(ROUTES);
        }
    }
}
