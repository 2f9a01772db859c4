package wiretrial.subjects.table;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.LineBasedFrameDecoder;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What stands between a socket and a player, on a stream and over WebSocket.
 *
 * <p>Knows framing; must not know what packets say.
 */
final class Pipelines {
    private static final String PATH = "/socket";
    /** How long a peer that is sent away may go on sending. */
    private static final int LINGER_SECONDS = 1;

    private Pipelines() {}

    /** Packets on a stream, in the encoding that the first byte tells. */
    static ChannelInitializer<Channel> stream(Hall hall, boolean tuned) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                consolidate(channel.pipeline(), tuned);
                channel.pipeline().addLast(new FirstByte(hall));
            }
        };
    }

    /** A packet in each message, in the encoding that the first one's kind tells. */
    static ChannelInitializer<Channel> webSocket(Hall hall, boolean tuned) {
        WebSocketServerProtocolConfig config =
                WebSocketServerProtocolConfig.newBuilder()
                        .websocketPath(PATH)
                        .maxFramePayloadLength(Encoding.LARGEST)
                        .build();
        NotFound notFound = new NotFound();
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                consolidate(channel.pipeline(), tuned);
                channel.pipeline()
                        .addLast(new HttpServerCodec())
                        .addLast(new HttpObjectAggregator(Encoding.LARGEST))
                        .addLast(new WebSocketServerProtocolHandler(config))
                        .addLast(notFound)
                        .addLast(new WebSocketFrameAggregator(Encoding.LARGEST))
                        .addLast(new Messages(hall));
            }
        };
    }

    private static void consolidate(ChannelPipeline pipeline, boolean tuned) {
        if (tuned) {
            pipeline.addLast(
                    new FlushConsolidationHandler(
                            FlushConsolidationHandler.DEFAULT_EXPLICIT_FLUSH_AFTER_FLUSHES, true));
        }
    }

    /** Waits for the first byte, and makes the pipeline that it asks for. */
    private static final class FirstByte extends ByteToMessageDecoder {
        private final Hall hall;

        FirstByte(Hall hall) {
            this.hall = hall;
        }

        @Override
        protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
            Encoding encoding = Encoding.ofFirst(in.getByte(in.readerIndex()));
            context.pipeline()
                    .addLast(
                            encoding == Encoding.BINARY
                                    ? new LengthFieldBasedFrameDecoder(Encoding.LARGEST, 0, 4, -4, 0)
                                    : new LineBasedFrameDecoder(Encoding.LARGEST, true, true))
                    .addLast(new Packets(hall, context.channel(), encoding))
                    .remove(this);
        }
    }

    /** A player on a stream. */
    private static final class Packets extends SimpleChannelInboundHandler<ByteBuf> {
        private final Player player;
        private boolean sentAway;

        Packets(Hall hall, Channel channel, Encoding encoding) {
            player = new Player(hall, channel, new Dialect(encoding, false));
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf packet) {
            if (sentAway) {
                return;
            }
            try {
                player.hear(player.dialect().encoding().read(packet));
            } catch (NoPacket problem) {
                sendAway(context);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            if (cause instanceof DecoderException) {
                sendAway(context);
            } else {
                context.close();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            player.leave();
        }

        /** Says that it was no packet, and waits a while for that to be heard: closing on unread bytes sends RST. */
        private void sendAway(ChannelHandlerContext context) {
            if (sentAway) {
                return;
            }
            sentAway = true;
            player.leave();
            player.say(new Reply.Bad(0, 0));
            ((DuplexChannel) context.channel()).shutdownOutput();
            context.executor().schedule(() -> context.close(), LINGER_SECONDS, TimeUnit.SECONDS);
        }
    }

    /** A player over WebSocket. */
    private static final class Messages extends SimpleChannelInboundHandler<WebSocketFrame> {
        private final Hall hall;
        private Player player;
        private boolean sentAway;

        Messages(Hall hall) {
            this.hall = hall;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, WebSocketFrame frame) {
            if (sentAway) {
                return;
            }
            Encoding encoding =
                    frame instanceof TextWebSocketFrame ? Encoding.JSON : Encoding.BINARY;
            if (player == null) {
                player = new Player(hall, context.channel(), new Dialect(encoding, true));
            }
            try {
                if (player.dialect().encoding() != encoding) {
                    throw new NoPacket("a message of the other kind");
                }
                player.hear(encoding.read(frame.content()));
            } catch (NoPacket problem) {
                sendAway(context, WebSocketCloseStatus.PROTOCOL_ERROR);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            if (cause instanceof TooLongFrameException) {
                sendAway(context, WebSocketCloseStatus.MESSAGE_TOO_BIG);
            } else {
                context.close();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            if (player != null) {
                player.leave();
            }
        }

        private void sendAway(ChannelHandlerContext context, WebSocketCloseStatus status) {
            if (!sentAway) {
                sentAway = true;
                context.writeAndFlush(new CloseWebSocketFrame(status))
                        .addListener(ChannelFutureListener.CLOSE);
            }
        }
    }

    /** Answers what asks for no upgrade at the path. */
    @Sharable
    private static final class NotFound extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            DefaultFullHttpResponse refusal =
                    new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.NOT_FOUND);
            refusal.headers().set("Content-Length", 0);
            context.writeAndFlush(refusal).addListener(ChannelFutureListener.CLOSE);
        }
    }
}
