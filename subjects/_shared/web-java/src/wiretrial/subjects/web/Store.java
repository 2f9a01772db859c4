package wiretrial.subjects.web;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import wiretrial.subjects.web.Contract.Fortune;
import wiretrial.subjects.web.Contract.Item;
import wiretrial.subjects.web.Contract.Login;
import wiretrial.subjects.web.Contract.Row;
import wiretrial.subjects.web.Contract.Token;

/** The tables of the contract `web`, asked by JDBC over HikariCP: for frameworks of threads. */
public final class Store {
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

  private final HikariDataSource pool = Database.pool();
  private volatile Map<Integer, Integer> cached;

  private interface Work<T> {
    T on(Connection connection) throws SQLException;
  }

  private <T> T with(Work<T> work) {
    try (Connection connection = pool.getConnection()) {
      return work.on(connection);
    } catch (SQLException error) {
      throw new IllegalStateException(error);
    }
  }

  /** A row of `world`. */
  public Row row(int id) {
    return with(connection -> each(connection, List.of(id)).get(0));
  }

  /** Rows of `world`, each by a statement of its own. */
  public List<Row> rows(List<Integer> ids) {
    return with(connection -> each(connection, ids));
  }

  /** Reads each row, and gives it its new number: all of them in one batch. */
  public void change(List<Row> changes) {
    with(
        connection -> {
          each(connection, changes.stream().map(Row::id).toList());
          try (PreparedStatement statement = connection.prepareStatement(CHANGE)) {
            for (Row row : changes) {
              statement.setInt(1, row.number());
              statement.setInt(2, row.id());
              statement.addBatch();
            }
            return statement.executeBatch();
          }
        });
  }

  /** Rows of `cached_world`, which are read once. */
  public List<Row> cached(List<Integer> ids) {
    if (cached == null) {
      cached =
          with(
              connection -> {
                Map<Integer, Integer> all = new HashMap<>();
                try (PreparedStatement statement =
                        connection.prepareStatement("SELECT id, number FROM cached_world");
                    ResultSet found = statement.executeQuery()) {
                  while (found.next()) {
                    all.put(found.getInt(1), found.getInt(2));
                  }
                }
                return all;
              });
    }
    return ids.stream().map(id -> new Row(id, cached.get(id))).toList();
  }

  /** The rows of the page in their order. */
  public List<Fortune> fortunes() {
    return with(
        connection -> {
          List<Fortune> all = new ArrayList<>();
          try (PreparedStatement statement =
                  connection.prepareStatement("SELECT id, message FROM fortune");
              ResultSet found = statement.executeQuery()) {
            while (found.next()) {
              all.add(new Fortune(found.getInt(1), found.getString(2)));
            }
          }
          return Contract.fortunes(all);
        });
  }

  /** A new token; none where name and password do not fit. */
  public Optional<Token> login(Login said) {
    return with(
        connection -> {
          int account;
          try (PreparedStatement statement = connection.prepareStatement(LOGIN)) {
            statement.setString(1, said.name());
            statement.setString(2, said.password());
            ResultSet found = statement.executeQuery();
            if (!found.next()) {
              return Optional.empty();
            }
            account = found.getInt(1);
          }
          try (PreparedStatement statement = connection.prepareStatement(SESSION)) {
            statement.setInt(1, account);
            ResultSet made = statement.executeQuery();
            made.next();
            return Optional.of(new Token(made.getString(1)));
          }
        });
  }

  /** Whose token it is; none: nobody's. */
  public Optional<Integer> account(String token) {
    return with(
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(ACCOUNT)) {
            statement.setString(1, token);
            ResultSet found = statement.executeQuery();
            return found.next() ? Optional.of(found.getInt(1)) : Optional.empty();
          }
        });
  }

  /** The newest items of an account. */
  public List<Item> items(int account) {
    return with(
        connection -> {
          List<Item> all = new ArrayList<>();
          try (PreparedStatement statement = connection.prepareStatement(ITEMS)) {
            statement.setInt(1, account);
            ResultSet found = statement.executeQuery();
            while (found.next()) {
              all.add(new Item(found.getInt(1), found.getString(2)));
            }
          }
          return all;
        });
  }

  /** A new item of an account. */
  public Item add(int account, String text) {
    return with(
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(ADD)) {
            statement.setInt(1, account);
            statement.setString(2, text);
            ResultSet made = statement.executeQuery();
            made.next();
            return new Item(made.getInt(1), text);
          }
        });
  }

  private static List<Row> each(Connection connection, List<Integer> ids) throws SQLException {
    List<Row> found = new ArrayList<>(ids.size());
    try (PreparedStatement statement = connection.prepareStatement(ONE)) {
      for (int id : ids) {
        statement.setInt(1, id);
        try (ResultSet row = statement.executeQuery()) {
          row.next();
          found.add(new Row(row.getInt(1), row.getInt(2)));
        }
      }
    }
    return found;
  }
}
