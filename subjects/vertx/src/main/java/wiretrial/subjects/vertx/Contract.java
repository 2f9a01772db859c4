package wiretrial.subjects.vertx;

import java.util.List;
import java.util.stream.IntStream;

/** What the contract `web` says of rows and counts. */
final class Contract {
  private static final int ROWS = 10_000;
  private static final int STEP = 7919;
  private static final int MOST = 100;

  private Contract() {}

  /** The ids, or the new numbers, of a request for so many rows from `first` on. */
  static List<Integer> chain(int first, int count) {
    return IntStream.range(0, count)
        .map(place -> (first - 1 + place * STEP) % ROWS + 1)
        .boxed()
        .toList();
  }

  /** How many rows a request with this `count` is for. */
  static int clamped(String count) {
    try {
      return Math.min(Math.max(Integer.parseInt(count), 1), MOST);
    } catch (NumberFormatException error) {
      return 1;
    }
  }
}
