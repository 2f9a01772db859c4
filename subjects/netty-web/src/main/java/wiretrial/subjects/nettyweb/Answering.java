package wiretrial.subjects.nettyweb;

import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import wiretrial.subjects.web.Routes;
import wiretrial.subjects.web.Routes.Answer;

/** Answers the requests of a connection in their order; the database is waited for elsewhere. */
final class Answering extends SimpleChannelInboundHandler<FullHttpRequest> {
  private static final Answer NOT_FOUND = new Answer(404, "text/plain", new byte[0]);
  private static final Answer FAILED = new Answer(500, "text/plain", new byte[0]);

  private final Routes routes;
  private final Executor waiting;
  /** Answers that were not sent yet, the oldest first. */
  private final Queue<CompletableFuture<Answer>> owed = new ArrayDeque<>();

  Answering(Routes routes, Executor waiting) {
    this.routes = routes;
    this.waiting = waiting;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
    CompletableFuture<Answer> answer = answer(request);
    owed.add(answer);
    if (answer.isDone()) {
      write(context);
    } else {
      answer.whenCompleteAsync((made, error) -> writeAndFlush(context), context.executor());
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    context.flush();
  }

  /** A peer that is gone or broke the protocol. */
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    context.close();
  }

  private CompletableFuture<Answer> answer(FullHttpRequest request) {
    QueryStringDecoder uri = new QueryStringDecoder(request.uri());
    Optional<Routes.Route> found = routes.find(request.method().name(), uri.path());
    if (found.isEmpty()) {
      return CompletableFuture.completedFuture(NOT_FOUND);
    }
    Asked asked =
        new Asked(
            uri,
            request.headers().get(HttpHeaderNames.AUTHORIZATION),
            ByteBufUtil.getBytes(request.content()));
    if (Routes.waits(uri.path())) {
      return CompletableFuture.supplyAsync(() -> told(found.get(), asked), waiting)
          .exceptionally(error -> FAILED);
    }
    return CompletableFuture.completedFuture(told(found.get(), asked));
  }

  private static Answer told(Routes.Route route, Asked asked) {
    try {
      return route.answer(asked);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private void writeAndFlush(ChannelHandlerContext context) {
    write(context);
    context.flush();
  }

  /** Writes what is due: up to the first answer that is still to come. */
  private void write(ChannelHandlerContext context) {
    while (!owed.isEmpty() && owed.peek().isDone()) {
      context.write(response(owed.poll().join()));
    }
  }

  private static FullHttpResponse response(Answer answer) {
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.valueOf(answer.status()),
            Unpooled.wrappedBuffer(answer.content()));
    response.headers().set(HttpHeaderNames.CONTENT_TYPE, answer.kind());
    HttpUtil.setContentLength(response, answer.content().length);
    return response;
  }

  /** What a route looks at, kept beyond the request's buffer. */
  private record Asked(QueryStringDecoder uri, String authorization, byte[] body)
      implements Routes.Request {
    @Override
    public String value(String name) {
      List<String> values = uri.parameters().get(name);
      return values == null ? null : values.get(0);
    }
  }
}
