package wiretrial.subjects.nettyweb;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import wiretrial.subjects.web.Routes;

/** What stands between a socket and its answers. */
final class Pipeline extends ChannelInitializer<Channel> {
  private static final int LARGEST_REQUEST = 1 << 20;

  private final boolean tuned;
  private final Routes routes = new Routes();
  /** Waits for the database in place of the loops: a thread for each of its connections. */
  private final Executor waiting =
      Executors.newFixedThreadPool(Integer.parseInt(System.getenv("DATABASE_POOL")));

  Pipeline(boolean tuned) {
    this.tuned = tuned;
  }

  @Override
  protected void initChannel(Channel channel) {
    ChannelPipeline pipeline = channel.pipeline();
    if (tuned) {
      pipeline.addLast(new FlushConsolidationHandler());
    }
    pipeline
        .addLast(new HttpServerCodec())
        .addLast(new HttpServerKeepAliveHandler())
        .addLast(new HttpObjectAggregator(LARGEST_REQUEST))
        .addLast(new Answering(routes, waiting));
  }
}
