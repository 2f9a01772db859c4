import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * Has a client ask the reference server, and says {@code ok NAME} for each thing that was right.
 *
 * <p>Knows what is asked; must not know which library asks. A client fails where a status is not 200 or the version
 * of HTTP is not the one that it is for.
 */
final class Checks {
    private static final int AT_ONCE = 50;
    private static final int LIMIT_S = 30;

    private Checks() {}

    /** One connection to one server. */
    interface Client {
        /** The content of the reply to a GET where there is no body, to a POST else. */
        CompletableFuture<byte[]> ask(String path, byte[] body);
    }

    static void run(Client client) throws Exception {
        check("get", client.ask("/message", new byte[0]).get(LIMIT_S, TimeUnit.SECONDS).length == 64);
        for (int size : new int[] {1000, 1 << 20}) {
            byte[] sent = content(size);
            byte[] echoed = client.ask("/echo", sent).get(LIMIT_S, TimeUnit.SECONDS);
            check(size > 1000 ? "post-large" : "post", Arrays.equals(sent, echoed));
        }
        byte[] sent = content(1000);
        List<CompletableFuture<byte[]>> asked =
                IntStream.range(0, AT_ONCE).mapToObj(at -> client.ask("/echo", sent)).toList();
        CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new)).get(LIMIT_S, TimeUnit.SECONDS);
        check("streams", asked.stream().allMatch(one -> Arrays.equals(one.join(), sent)));
    }

    static void check(String name, boolean isRight) {
        if (!isRight) {
            throw new AssertionError(name);
        }
        System.out.println("ok " + name);
    }

    private static byte[] content(int size) {
        byte[] made = new byte[size];
        for (int at = 0; at < size; at++) {
            made[at] = (byte) (33 + (at * 7 + at / 90) % 90);
        }
        return made;
    }
}
