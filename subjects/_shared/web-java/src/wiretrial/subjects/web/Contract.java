package wiretrial.subjects.web;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** What the contract `web` says of rows, counts and the page; the same for every Java framework. */
public final class Contract {
  public static final String GREETING = "Hello, World!";
  public static final String HTML = "text/html; charset=utf-8";

  private static final int ROWS = 10_000;
  private static final int STEP = 7919;
  private static final int MOST = 100;
  private static final Fortune ADDED =
      new Fortune(0, "One more fortune, made while you wait.");

  private Contract() {}

  /** The reply of /json. */
  public record Message(String message) {}

  /** A row of `world` or `cached_world`. */
  public record Row(int id, int number) {}

  /** A row of the page. */
  public record Fortune(int id, String message) {}

  /** What comes to /login. */
  public record Login(String name, String password) {}

  /** What /login answers. */
  public record Token(String token) {}

  /** What is posted to /items. */
  public record Text(String text) {}

  /** An item of an account. */
  public record Item(int id, String text) {}

  /** The ids, or the new numbers, of a request for so many rows from `first` on. */
  public static List<Integer> chain(int first, int count) {
    return IntStream.range(0, count)
        .map(place -> (first - 1 + place * STEP) % ROWS + 1)
        .boxed()
        .toList();
  }

  /** The ids of a request's query. */
  public static List<Integer> ids(String id, String count) {
    return chain(Integer.parseInt(id), clamped(count));
  }

  /** The rows that a request changes, each with its new number. */
  public static List<Row> changes(String id, String count, String number) {
    List<Integer> ids = ids(id, count);
    List<Integer> numbers = chain(Integer.parseInt(number), ids.size());
    return IntStream.range(0, ids.size())
        .mapToObj(place -> new Row(ids.get(place), numbers.get(place)))
        .toList();
  }

  /** How many rows a request with this `count` is for. */
  public static int clamped(String count) {
    try {
      return Math.min(Math.max(Integer.parseInt(count), 1), MOST);
    } catch (NumberFormatException error) {
      return 1;
    }
  }

  /** The rows of the page in their order. */
  public static List<Fortune> fortunes(List<Fortune> found) {
    List<Fortune> all = new ArrayList<>(found);
    all.add(ADDED);
    all.sort(Comparator.comparing(Fortune::message));
    return all;
  }

  /** The token of an Authorization field; empty where there is none. */
  public static String token(String field) {
    return field == null ? "" : field.replaceFirst("^Bearer ", "");
  }
}
