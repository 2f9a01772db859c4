package wiretrial.subjects.grpcjava;

import com.google.protobuf.ByteString;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import wiretrial.EchoGrpc;
import wiretrial.EchoGrpc.EchoBlockingStub;
import wiretrial.EchoOuterClass.Message;
import wiretrial.driver.Client;
import wiretrial.driver.Options;

/** One channel, and a stub on it. */
final class EchoClient implements Client {
    /** A connection's end in order takes a turn of its loop. */
    private static final int ENDING_S = 5;

    private final Options options;
    private ManagedChannel channel;
    private EchoBlockingStub echo;

    EchoClient(Options options) {
        this.options = options;
    }

    /** The first call opens the connection. */
    @Override
    public void open() {
        channel = Grpc.newChannelBuilder(options.url().getAuthority(), trust()).build();
        echo = EchoGrpc.newBlockingStub(channel);
    }

    @Override
    public byte[] exchange(byte[] message) {
        Message sent = Message.newBuilder().setContent(ByteString.copyFrom(message)).build();
        return echo.unary(sent).getContent().toByteArray();
    }

    @Override
    public void close() throws InterruptedException {
        channel.shutdown().awaitTermination(ENDING_S, TimeUnit.SECONDS);
    }

    @Override
    public void abort() {
        if (channel != null) {
            channel.shutdownNow();
        }
    }

    @Override
    public OptionalLong opened() {
        return OptionalLong.empty();
    }

    private ChannelCredentials trust() {
        if (options.trust() == null) {
            return InsecureChannelCredentials.create();
        }
        return TlsChannelCredentials.newBuilder()
                .trustManager(options.trust().getTrustManagers())
                .build();
    }
}
