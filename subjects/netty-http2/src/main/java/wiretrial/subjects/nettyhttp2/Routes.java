package wiretrial.subjects.nettyhttp2;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;

/**
 * The routes of the contracts.
 *
 * <p>Knows requests; must not know which version of HTTP brought them.
 */
@Sharable
final class Routes extends SimpleChannelInboundHandler<FullHttpRequest> {
    private static final ByteBuf MESSAGE =
            Unpooled.unreleasableBuffer(
                    Unpooled.copiedBuffer(
                            "{\"seq\":\"0000000000000000\",\"text\":\"one message of 64 bytes.....\"}",
                            StandardCharsets.US_ASCII));

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
        context.writeAndFlush(answer(request));
    }

    /** A peer that is gone or broke the protocol: its stream or connection ends, and no other. */
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }

    private static FullHttpResponse answer(FullHttpRequest request) {
        HttpMethod method = request.method();
        boolean head = method.equals(HttpMethod.HEAD);
        if (request.uri().equals("/echo") && method.equals(HttpMethod.POST)) {
            ByteBuf body = request.content().retain();
            return reply(HttpResponseStatus.OK, HttpHeaderValues.APPLICATION_OCTET_STREAM, body, false);
        }
        if (request.uri().equals("/message") && (head || method.equals(HttpMethod.GET))) {
            return reply(
                    HttpResponseStatus.OK,
                    HttpHeaderValues.APPLICATION_JSON,
                    MESSAGE.duplicate(),
                    head);
        }
        ByteBuf words = Unpooled.copiedBuffer("not found\n", StandardCharsets.US_ASCII);
        return reply(HttpResponseStatus.NOT_FOUND, HttpHeaderValues.TEXT_PLAIN, words, head);
    }

    /** For HEAD, the length alone is told. */
    private static FullHttpResponse reply(
            HttpResponseStatus status, AsciiString type, ByteBuf body, boolean head) {
        int length = body.readableBytes();
        var response =
                new DefaultFullHttpResponse(
                        HttpVersion.HTTP_1_1, status, head ? Unpooled.EMPTY_BUFFER : body);
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, type)
                .setInt(HttpHeaderNames.CONTENT_LENGTH, length);
        return response;
    }
}
