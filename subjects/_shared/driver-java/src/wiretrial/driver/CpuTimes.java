package wiretrial.driver;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * User and system time of the whole process, in nanoseconds.
 *
 * <p>Java has no getrusage: the kernel's own file counts in ticks of 10 ms, as the JDK's does.
 */
record CpuTimes(long userNs, long systemNs) {
    private static final long TICK_NS = 10_000_000;

    static CpuTimes now() throws IOException {
        String line = Files.readString(Path.of("/proc/self/stat"));
        // The name of the program, in parentheses, may hold blanks; what follows does not.
        String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ");
        return new CpuTimes(
                Long.parseLong(fields[11]) * TICK_NS, Long.parseLong(fields[12]) * TICK_NS);
    }
}
