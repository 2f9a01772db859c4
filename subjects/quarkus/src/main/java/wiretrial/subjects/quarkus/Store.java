package wiretrial.subjects.quarkus;

import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Pool;
import io.vertx.mutiny.sqlclient.RowSet;
import io.vertx.mutiny.sqlclient.SqlClient;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import wiretrial.subjects.web.Contract;
import wiretrial.subjects.web.Contract.Fortune;
import wiretrial.subjects.web.Contract.Item;
import wiretrial.subjects.web.Contract.Login;
import wiretrial.subjects.web.Contract.Row;
import wiretrial.subjects.web.Contract.Token;

/** The tables of the contract `web`, asked by the reactive client of PostgreSQL. */
@ApplicationScoped
public class Store {
  private static final String ONE = "SELECT id, number FROM world WHERE id = $1";
  private static final String CHANGE = "UPDATE world SET number = $2 WHERE id = $1";
  private static final String LOGIN =
      "SELECT id FROM account WHERE name = $1"
          + " AND digest = encode(sha256(convert_to($2, 'UTF8')), 'hex')";
  private static final String SESSION =
      "INSERT INTO session (account) VALUES ($1) RETURNING token";
  private static final String ACCOUNT = "SELECT account FROM session WHERE token = $1";
  private static final String ITEMS =
      "SELECT id, text FROM item WHERE account = $1 ORDER BY id DESC LIMIT 20";
  private static final String ADD =
      "INSERT INTO item (account, text) VALUES ($1, $2) RETURNING id";

  private final Pool pool;
  private volatile Map<Integer, Row> cached;

  Store(Pool pool) {
    this.pool = pool;
  }

  /** A row of `world`. */
  Uni<Row> row(int id) {
    return one(pool, id);
  }

  /** Rows of `world`, each by a statement of its own, in one pipeline. */
  Uni<List<Row>> rows(List<Integer> ids) {
    return pool.withConnection(connection -> each(connection, ids));
  }

  /** Reads each row, and gives it its new number: all of them in one batch. */
  Uni<List<Row>> change(List<Row> changes) {
    List<Integer> ids = changes.stream().map(Row::id).toList();
    List<Tuple> numbers =
        changes.stream().map(row -> Tuple.of(row.id(), row.number())).toList();
    return pool.withConnection(
        connection ->
            each(connection, ids)
                .chain(read -> connection.preparedQuery(CHANGE).executeBatch(numbers))
                .replaceWith(changes));
  }

  /** Rows of `cached_world`, which are read once. */
  Uni<List<Row>> cached(List<Integer> ids) {
    Uni<Map<Integer, Row>> all = cached == null ? allCached() : Uni.createFrom().item(cached);
    return all.map(rows -> ids.stream().map(rows::get).toList());
  }

  private Uni<Map<Integer, Row>> allCached() {
    return pool.query("SELECT id, number FROM cached_world")
        .execute()
        .map(
            found -> {
              Map<Integer, Row> all = new HashMap<>();
              found.forEach(row -> all.put(row.getInteger(0), told(row)));
              cached = all;
              return all;
            });
  }

  /** The rows of the page in their order. */
  Uni<List<Fortune>> fortunes() {
    return pool.preparedQuery("SELECT id, message FROM fortune")
        .execute()
        .map(rows -> list(rows, row -> new Fortune(row.getInteger(0), row.getString(1))))
        .map(Contract::fortunes);
  }

  /** A new token; null where name and password do not fit. */
  Uni<Token> login(Login said) {
    return first(LOGIN, Tuple.of(said.name(), said.password()), row -> row.getInteger(0))
        .onItem()
        .ifNotNull()
        .transformToUni(
            account -> first(SESSION, Tuple.of(account), row -> new Token(row.getString(0))));
  }

  /** Whose token it is; null: nobody's. */
  Uni<Integer> account(String token) {
    return first(ACCOUNT, Tuple.of(token), row -> row.getInteger(0));
  }

  /** The newest items of an account. */
  Uni<List<Item>> items(int account) {
    return pool.preparedQuery(ITEMS)
        .execute(Tuple.of(account))
        .map(rows -> list(rows, row -> new Item(row.getInteger(0), row.getString(1))));
  }

  /** A new item of an account. */
  Uni<Item> add(int account, String text) {
    return first(ADD, Tuple.of(account, text), row -> new Item(row.getInteger(0), text));
  }

  /** What the first row tells; null where there is none. */
  private <T> Uni<T> first(
      String sql, Tuple values, Function<io.vertx.mutiny.sqlclient.Row, T> tell) {
    return pool.preparedQuery(sql)
        .execute(values)
        .map(rows -> rows.size() == 0 ? null : tell.apply(rows.iterator().next()));
  }

  private static <T> List<T> list(
      RowSet<io.vertx.mutiny.sqlclient.Row> rows,
      Function<io.vertx.mutiny.sqlclient.Row, T> tell) {
    List<T> told = new ArrayList<>(rows.size());
    rows.forEach(row -> told.add(tell.apply(row)));
    return told;
  }

  private static Uni<List<Row>> each(SqlClient client, List<Integer> ids) {
    return Uni.join().all(ids.stream().map(id -> one(client, id)).toList()).andFailFast();
  }

  private static Uni<Row> one(SqlClient client, int id) {
    return client
        .preparedQuery(ONE)
        .execute(Tuple.of(id))
        .map(rows -> told(rows.iterator().next()));
  }

  private static Row told(io.vertx.mutiny.sqlclient.Row row) {
    return new Row(row.getInteger(0), row.getInteger(1));
  }
}
