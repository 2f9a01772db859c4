package wiretrial.subjects.table;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.Version;
import java.util.concurrent.TimeUnit;
import wiretrial.server.Flags;

/**
 * A table server with Netty: packets on one port, over WebSocket on another.
 *
 * <p>{@code --host H --port P --styx-port P --threads N [--tuned]}
 */
public final class Main {
    /** Whoever lets so many bytes wait is given up; below the first they may be written again. */
    private static final WriteBufferWaterMark MOST_WAITING =
            new WriteBufferWaterMark(512 << 10, 1 << 20);

    private Main() {}

    public static void main(String[] words) throws InterruptedException {
        if (words.length == 1 && words[0].equals("--version")) {
            System.out.println(Version.identify().get("netty-common").artifactVersion());
            return;
        }
        serve(Flags.readOrExit(words, Options::of));
    }

    private static void serve(Options options) throws InterruptedException {
        Hall hall = new Hall();
        EventLoopGroup loops =
                options.tuned()
                        ? new EpollEventLoopGroup(options.threads())
                        : new NioEventLoopGroup(options.threads());
        loops.scheduleAtFixedRate(hall::tellLobby, 1, 1, TimeUnit.SECONDS);
        listen(loops, options, options.styxPort(), Pipelines.stream(hall, options.tuned()));
        listen(loops, options, options.port(), Pipelines.webSocket(hall, options.tuned()))
                .closeFuture()
                .sync();
    }

    private static Channel listen(
            EventLoopGroup loops, Options options, int port, ChannelInitializer<Channel> pipeline)
            throws InterruptedException {
        Class<? extends ServerChannel> kind =
                options.tuned() ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
        return new ServerBootstrap()
                .group(loops)
                .channel(kind)
                .option(ChannelOption.SO_BACKLOG, 1024)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, MOST_WAITING)
                .childHandler(pipeline)
                .bind(options.host(), port)
                .sync()
                .channel();
    }
}
