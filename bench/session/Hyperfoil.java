import io.hyperfoil.api.config.Benchmark;
import io.hyperfoil.api.statistics.StatisticsSnapshot;
import io.hyperfoil.core.impl.LocalBenchmarkData;
import io.hyperfoil.core.impl.LocalSimulationRunner;
import io.hyperfoil.core.parser.BenchmarkParser;
import io.hyperfoil.http.statistics.HttpStats;
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;

/** Runs a Hyperfoil benchmark in this process. Its last line is what was counted, as JSON. */
final class Hyperfoil {
  public static void main(String[] arguments) throws Exception {
    Path file = Path.of(arguments[0]);
    Benchmark benchmark =
        BenchmarkParser.instance()
            .buildBenchmark(
                new ByteArrayInputStream(Files.readAllBytes(file)),
                new LocalBenchmarkData(file.toAbsolutePath()),
                Map.of());
    Map<String, StatisticsSnapshot> all = new TreeMap<>();
    LocalSimulationRunner runner =
        new LocalSimulationRunner(
            benchmark,
            (phase, step, metric, snapshot, countDown) -> {
              synchronized (all) {
                all.computeIfAbsent(metric, name -> new StatisticsSnapshot()).add(snapshot);
              }
            },
            null,
            null);
    long length = benchmark.phases().iterator().next().duration();
    long begun = System.currentTimeMillis();
    try {
      runner.run();
    } catch (RuntimeException failure) {
      // Sessions that it cuts off at the end go on without the values of the reply that never came.
      if (System.currentTimeMillis() - begun < length) {
        throw failure;
      }
    }
    long right = 0;
    StringJoiner wrong = new StringJoiner(",", "{", "}");
    for (Map.Entry<String, StatisticsSnapshot> route : all.entrySet()) {
      StatisticsSnapshot counted = route.getValue();
      int failed = HttpStats.get(counted).status_5xx;
      right += counted.responseCount - counted.invalid;
      tell(wrong, route.getKey() + " status", failed);
      tell(wrong, route.getKey() + " invalid", counted.invalid - failed);
    }
    StatisticsSnapshot list = all.get("list");
    double p99 = list == null ? 0 : list.histogram.getValueAtPercentile(99) / 1e6;
    System.out.printf("{\"right\":%d,\"wrong\":%s,\"list_p99_ms\":%.1f}%n", right, wrong, p99);
    System.exit(0);
  }

  private static void tell(StringJoiner wrong, String name, int count) {
    if (count > 0) {
      wrong.add("\"" + name + "\":" + count);
    }
  }
}
