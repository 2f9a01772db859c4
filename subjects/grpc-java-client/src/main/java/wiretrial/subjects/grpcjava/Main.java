package wiretrial.subjects.grpcjava;

import io.grpc.internal.GrpcUtil;
import java.util.List;
import wiretrial.driver.Driver;

/**
 * A client driver around grpc-java: unary calls of a blocking stub.
 *
 * <p>Knows grpc-java; must not know how it is measured.
 */
public final class Main {
    private Main() {}

    public static void main(String[] words) {
        String version = GrpcUtil.getGrpcBuildVersion().getImplementationVersion();
        System.exit(
                Driver.drive(
                        "grpc-java-client",
                        "grpc-java " + version,
                        List.of("grpc", "grpcs"),
                        words,
                        EchoClient::new));
    }
}
