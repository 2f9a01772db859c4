import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.FullHttpResponse;
import java.util.concurrent.CompletableFuture;

/** Takes the whole reply on a stream, whatever the version of HTTP. */
final class NettyReply extends SimpleChannelInboundHandler<FullHttpResponse> {
    /** In bytes. */
    static final int LARGEST = 2 << 20;

    private final CompletableFuture<byte[]> answer;

    NettyReply(CompletableFuture<byte[]> answer) {
        this.answer = answer;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpResponse reply) {
        if (reply.status().code() == 200) {
            answer.complete(ByteBufUtil.getBytes(reply.content()));
        } else {
            answer.completeExceptionally(new IllegalStateException(reply.toString()));
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        answer.completeExceptionally(cause);
        context.close();
    }
}
