package wiretrial.driver;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;

/**
 * The loop of a client driver: warm-up, repetitions, a line of JSON for each.
 *
 * <p>Knows the clock, the histogram and the contract in subjects/_contract/README.md; must not know
 * any library.
 */
public final class Driver {
    private static final int MOST_FAILURES_IN_A_ROW = 10;

    private final Options options;
    private final String library;
    private final Function<Options, Client> makeClient;
    private final Watchdog watchdog;
    private Client client;
    private OptionalLong openedBefore = OptionalLong.of(0); // By the clients before this one.
    private int failuresInARow;

    private Driver(Options options, String library, Function<Options, Client> makeClient) {
        this.options = options;
        this.library = library;
        this.makeClient = makeClient;
        watchdog = new Watchdog(options.timeout());
    }

    /** Runs the driver as the command line says; returns the exit status of the contract. */
    public static int drive(
            String name,
            String library,
            List<String> schemes,
            String[] words,
            Function<Options, Client> makeClient) {
        if (Arrays.asList(words).contains("--version")) {
            System.out.println(library);
            return 0;
        }
        try {
            Options options = Options.read(schemes, Arrays.asList(words));
            new Driver(options, library, makeClient).run();
            return 0;
        } catch (UsageException wrong) {
            System.err.println(name + ": " + wrong.getMessage());
            return 2;
        } catch (Exception error) {
            System.err.println(name + ": " + oneLine(error));
            return 1;
        }
    }

    private void run() throws Exception {
        // A kept connection stands before the clock starts: the first exchange is never recorded.
        int unrecorded = options.kept() ? Math.max(options.warmup(), 1) : options.warmup();
        Recording discarded = new Recording();
        for (int iteration = 0; iteration < unrecorded; iteration++) {
            iterate(discarded);
        }
        for (int repetition = 0; repetition < options.repetitions(); repetition++) {
            System.out.println(repeat(repetition));
        }
        watchdog.restart();
        disconnect(true);
        watchdog.stop();
    }

    private String repeat(int repetition) throws Exception {
        Recording recording = new Recording();
        long keptFromBefore = client == null ? 0 : 1;
        OptionalLong opened = opened();
        CpuTimes cpu = CpuTimes.now();
        long start = System.nanoTime();
        for (int iteration = 0; iteration < options.iterations(); iteration++) {
            iterate(recording);
        }
        long wallNs = System.nanoTime() - start;
        CpuTimes cpuEnd = CpuTimes.now();
        OptionalLong openedEnd = opened();
        boolean told = opened.isPresent() && openedEnd.isPresent();
        return new JsonLine()
                .text("schema", "wiretrial-driver")
                .number("version", 1)
                .text("library", library)
                .number("repetition", repetition)
                .text("mode", options.kept() ? "kept" : "fresh")
                .number("iterations", options.iterations())
                .number("errors", recording.errors())
                .text("first_error", recording.firstError())
                .number(
                        "connections",
                        told
                                ? keptFromBefore + openedEnd.getAsLong() - opened.getAsLong()
                                : null)
                .number("wall_ns", wallNs)
                .number("cpu_user_ns", cpuEnd.userNs() - cpu.userNs())
                .number("cpu_system_ns", cpuEnd.systemNs() - cpu.systemNs())
                .text("histogram", recording.encoded())
                .end();
    }

    /** Fails only where the driver can't go on. */
    private void iterate(Recording recording) throws Exception {
        watchdog.restart();
        try {
            recording.succeeded(exchange());
            failuresInARow = 0;
            if (!options.kept()) {
                disconnect(true);
            }
            watchdog.stop();
        } catch (Exception error) {
            boolean late = watchdog.stop();
            disconnect(false);
            String said = late ? "no reply within " + seconds() + " s" : oneLine(error);
            recording.failed(said);
            countFailure(said);
        }
    }

    /** Nanoseconds of a verified exchange, and of its connection where there is none yet. */
    private long exchange() throws Exception {
        long start = System.nanoTime();
        if (client == null) {
            client = makeClient.apply(options);
            client.open();
        }
        verify(client.exchange(options.message()), options.expected());
        return System.nanoTime() - start;
    }

    /** What goes wrong now is no failure of the exchange before. */
    private void disconnect(boolean inOrder) {
        if (client == null) {
            return;
        }
        openedBefore = opened();
        try {
            if (inOrder) {
                client.close();
            } else {
                client.abort();
            }
        } catch (Exception error) {
            client.abort();
        }
        client = null;
    }

    private OptionalLong opened() {
        if (client == null || openedBefore.isEmpty()) {
            return openedBefore;
        }
        OptionalLong now = client.opened();
        return now.isEmpty() ? now : OptionalLong.of(openedBefore.getAsLong() + now.getAsLong());
    }

    private void countFailure(String said) throws Exception {
        failuresInARow++;
        if (failuresInARow == MOST_FAILURES_IN_A_ROW) {
            throw new Exception(MOST_FAILURES_IN_A_ROW + " failures in a row; the last: " + said);
        }
    }

    private static void verify(byte[] reply, byte[] expected) throws Exception {
        int at = Arrays.mismatch(reply, expected);
        if (at < 0) {
            return;
        }
        if (reply.length != expected.length) {
            throw new Exception(
                    "wrong reply: " + reply.length + " bytes instead of " + expected.length);
        }
        int found = Byte.toUnsignedInt(reply[at]);
        int right = Byte.toUnsignedInt(expected[at]);
        throw new Exception("wrong reply: byte " + at + " is " + found + " instead of " + right);
    }

    private double seconds() {
        return options.timeout().toNanos() / 1e9;
    }

    /** An error without what only wraps it; one without words is told by its name. */
    private static String oneLine(Throwable error) {
        Throwable inner = error;
        while (inner instanceof ExecutionException && inner.getCause() != null) {
            inner = inner.getCause();
        }
        String said = inner.getMessage();
        if (said == null) {
            return inner.getClass().getSimpleName();
        }
        return said.strip().replaceAll("\\s*\\R\\s*", "; ");
    }
}
