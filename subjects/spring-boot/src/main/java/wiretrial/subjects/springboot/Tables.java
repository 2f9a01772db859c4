package wiretrial.subjects.springboot;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.stereotype.Repository;
import wiretrial.subjects.web.Contract;
import wiretrial.subjects.web.Contract.Fortune;
import wiretrial.subjects.web.Contract.Item;
import wiretrial.subjects.web.Contract.Login;
import wiretrial.subjects.web.Contract.Row;
import wiretrial.subjects.web.Contract.Token;

/** The tables of the contract `web`, asked by Spring's template of JDBC. */
@Repository
class Tables {
  private static final String ONE = "SELECT id, number FROM world WHERE id = ?";
  private static final String CHANGE = "UPDATE world SET number = ? WHERE id = ?";
  private static final String LOGIN =
      "SELECT id FROM account WHERE name = ?"
          + " AND digest = encode(sha256(convert_to(?, 'UTF8')), 'hex')";
  private static final String SESSION =
      "INSERT INTO session (account) VALUES (?) RETURNING token";
  private static final String ACCOUNT = "SELECT account FROM session WHERE token = ?";
  private static final String ITEMS =
      "SELECT id, text FROM item WHERE account = ? ORDER BY id DESC LIMIT 20";
  private static final String ADD = "INSERT INTO item (account, text) VALUES (?, ?) RETURNING id";

  private static final RowMapper<Row> ROW =
      (found, place) -> new Row(found.getInt(1), found.getInt(2));

  private final JdbcTemplate template;
  private volatile Map<Integer, Row> cached;

  Tables(JdbcTemplate template) {
    this.template = template;
  }

  /** A row of `world`. */
  Row row(int id) {
    return template.queryForObject(ONE, ROW, id);
  }

  /** Rows of `world`, each by a statement of its own. */
  List<Row> rows(List<Integer> ids) {
    return ids.stream().map(this::row).toList();
  }

  /** Reads each row, and gives it its new number: all of them in one batch. */
  void change(List<Row> changes) {
    rows(changes.stream().map(Row::id).toList());
    template.batchUpdate(
        CHANGE,
        changes,
        changes.size(),
        (statement, row) -> {
          statement.setInt(1, row.number());
          statement.setInt(2, row.id());
        });
  }

  /** Rows of `cached_world`, which are read once. */
  List<Row> cached(List<Integer> ids) {
    if (cached == null) {
      Map<Integer, Row> all = new HashMap<>();
      template
          .query("SELECT id, number FROM cached_world", ROW)
          .forEach(row -> all.put(row.id(), row));
      cached = all;
    }
    return ids.stream().map(cached::get).toList();
  }

  /** The rows of the page in their order. */
  List<Fortune> fortunes() {
    return Contract.fortunes(
        template.query(
            "SELECT id, message FROM fortune",
            (found, place) -> new Fortune(found.getInt(1), found.getString(2))));
  }

  /** A new token; none where name and password do not fit. */
  Optional<Token> login(Login said) {
    return first(LOGIN, said.name(), said.password())
        .map(account -> template.queryForObject(SESSION, String.class, account))
        .map(Token::new);
  }

  /** Whose token it is; none: nobody's. */
  Optional<Integer> account(String token) {
    return first(ACCOUNT, token);
  }

  /** The newest items of an account. */
  List<Item> items(int account) {
    return template.query(
        ITEMS, (found, place) -> new Item(found.getInt(1), found.getString(2)), account);
  }

  /** A new item of an account. */
  Item add(int account, String text) {
    return new Item(template.queryForObject(ADD, Integer.class, account, text), text);
  }

  /** The number that the statement finds, if it finds any. */
  private Optional<Integer> first(String statement, Object... values) {
    return template.queryForList(statement, Integer.class, values).stream().findFirst();
  }
}
