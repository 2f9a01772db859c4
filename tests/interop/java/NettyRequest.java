import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.concurrent.Future;
import java.util.concurrent.CompletableFuture;

/** A request in the words of HTTP/1.1, which Netty's codecs put into frames of a stream. */
final class NettyRequest {
    private NettyRequest() {}

    /** Sends it on a stream as soon as that is open. */
    static <C extends Channel> void send(
            Future<C> opening,
            String authority,
            String path,
            byte[] body,
            CompletableFuture<byte[]> answer) {
        HttpMethod method = body.length > 0 ? HttpMethod.POST : HttpMethod.GET;
        var request =
                new DefaultFullHttpRequest(
                        HttpVersion.HTTP_1_1, method, path, Unpooled.wrappedBuffer(body));
        request.headers().set(HttpHeaderNames.HOST, authority);
        opening.addListener(
                opened -> {
                    if (opened.isSuccess()) {
                        ((Channel) opened.getNow()).writeAndFlush(request);
                    } else {
                        answer.completeExceptionally(opened.cause());
                    }
                });
    }
}
