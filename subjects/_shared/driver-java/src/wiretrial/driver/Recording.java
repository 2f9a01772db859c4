package wiretrial.driver;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import org.HdrHistogram.Histogram;

/** What one repetition found. */
final class Recording {
    private static final long LONGEST_NS = 60_000_000_000L;
    private static final int SIGNIFICANT_DIGITS = 3;

    private final Histogram histogram = new Histogram(1, LONGEST_NS, SIGNIFICANT_DIGITS);
    private int errors;
    private String firstError;

    void succeeded(long elapsedNs) {
        histogram.recordValue(Math.min(elapsedNs, LONGEST_NS));
    }

    void failed(String said) {
        errors++;
        if (firstError == null) {
            firstError = said;
        }
    }

    int errors() {
        return errors;
    }

    String firstError() {
        return firstError;
    }

    String encoded() {
        ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
        int size = histogram.encodeIntoCompressedByteBuffer(buffer);
        return Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), size));
    }
}
