package wiretrial.subjects.nettyweb;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.util.List;

/** The contract `web` on Netty: event loops and a port. */
public final class Main {
  private Main() {}

  public static void main(String[] words) throws InterruptedException {
    List<String> options = List.of(words);
    boolean tuned = options.contains("--tuned");
    IoHandlerFactory transport = tuned ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    Class<? extends ServerChannel> kind =
        tuned ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    int threads = Integer.parseInt(after(options, "--threads"));
    EventLoopGroup loops = new MultiThreadIoEventLoopGroup(threads, transport);
    new ServerBootstrap()
        .group(loops)
        .channel(kind)
        .childHandler(new Pipeline(tuned))
        .bind(after(options, "--host"), Integer.parseInt(after(options, "--port")))
        .sync()
        .channel()
        .closeFuture()
        .sync();
  }

  private static String after(List<String> options, String name) {
    return options.get(options.indexOf(name) + 1);
  }
}
