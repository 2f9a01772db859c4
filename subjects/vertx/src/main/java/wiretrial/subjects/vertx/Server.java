package wiretrial.subjects.vertx;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.ext.web.templ.thymeleaf.ThymeleafTemplateEngine;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The contract `web` in Vert.x: a Router, the pool of its PostgreSQL client, and Thymeleaf. */
final class Server extends VerticleBase {
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
  private static final String GREETING = "Hello, World!";
  private static final String ADDED = "One more fortune, made while you wait.";

  private final String host;
  private final int port;
  private Pool pool;
  private ThymeleafTemplateEngine pages;
  private Map<Integer, Integer> cached;

  Server(String host, int port) {
    this.host = host;
    this.port = port;
  }

  @Override
  public Future<?> start() {
    PgConnectOptions database =
        PgConnectOptions.fromUri(System.getenv("DATABASE_URL")).setCachePreparedStatements(true);
    PoolOptions size =
        new PoolOptions()
            .setMaxSize(Integer.parseInt(System.getenv("DATABASE_POOL")))
            .setShared(true)
            .setName("web");
    pool = PgBuilder.pool().with(size).connectingTo(database).using(vertx).build();
    pages = ThymeleafTemplateEngine.create(vertx);

    Router router = Router.router(vertx);
    router.get("/plaintext").handler(this::plaintext);
    router.get("/json").handler(c -> c.json(new JsonObject().put("message", GREETING)));
    router.get("/db").handler(c -> say(c, 200, one(pool, number(c, "id"))));
    router.get("/queries").handler(c -> say(c, 200, queries(c)));
    router.get("/updates").handler(c -> say(c, 200, updates(c)));
    router.get("/cached").handler(c -> say(c, 200, cached(c)));
    router.get("/fortunes").handler(this::fortunes);
    router.post("/login").handler(BodyHandler.create()).handler(this::login);
    router.get("/items").handler(c -> known(c, account -> say(c, 200, items(account))));
    router
        .post("/items")
        .handler(BodyHandler.create())
        .handler(c -> known(c, account -> say(c, 201, add(account, c))));
    return vertx.createHttpServer().requestHandler(router).listen(port, host);
  }

  private void plaintext(RoutingContext c) {
    c.response().putHeader("Content-Type", "text/plain").end(GREETING);
  }

  private Future<JsonArray> queries(RoutingContext c) {
    return pool.withConnection(connection -> each(connection, ids(c)).map(JsonArray::new));
  }

  private Future<JsonArray> updates(RoutingContext c) {
    List<Integer> ids = ids(c);
    List<Integer> numbers = Contract.chain(number(c, "number"), ids.size());
    List<Tuple> changes = new ArrayList<>();
    JsonArray told = new JsonArray();
    for (int place = 0; place < ids.size(); place++) {
      changes.add(Tuple.of(ids.get(place), numbers.get(place)));
      told.add(row(ids.get(place), numbers.get(place)));
    }
    return pool.withConnection(
        connection ->
            each(connection, ids)
                .compose(read -> connection.preparedQuery(CHANGE).executeBatch(changes))
                .map(told));
  }

  private Future<JsonArray> cached(RoutingContext c) {
    Future<?> filled =
        cached != null
            ? Future.succeededFuture()
            : pool.query("SELECT id, number FROM cached_world")
                .execute()
                .onSuccess(
                    rows -> {
                      Map<Integer, Integer> all = new HashMap<>();
                      rows.forEach(row -> all.put(row.getInteger(0), row.getInteger(1)));
                      cached = all;
                    });
    return filled.map(
        done -> {
          JsonArray told = new JsonArray();
          ids(c).forEach(id -> told.add(row(id, cached.get(id))));
          return told;
        });
  }

  private void fortunes(RoutingContext c) {
    pool.preparedQuery("SELECT id, message FROM fortune")
        .execute()
        .compose(
            rows -> {
              List<Map<String, Object>> found = new ArrayList<>();
              for (Row row : rows) {
                found.add(Map.of("id", row.getInteger(0), "message", row.getString(1)));
              }
              found.add(Map.of("id", 0, "message", ADDED));
              found.sort(Comparator.comparing(one -> (String) one.get("message")));
              return pages.render(Map.of("fortunes", found), "templates/fortunes.html");
            })
        .onSuccess(
            page -> c.response().putHeader("Content-Type", "text/html; charset=utf-8").end(page))
        .onFailure(c::fail);
  }

  private void login(RoutingContext c) {
    JsonObject said = c.body().asJsonObject();
    pool.preparedQuery(LOGIN)
        .execute(Tuple.of(said.getString("name"), said.getString("password")))
        .compose(
            rows ->
                rows.size() == 0
                    ? Future.succeededFuture()
                    : pool.preparedQuery(SESSION)
                        .execute(Tuple.of(rows.iterator().next().getInteger(0)))
                        .map(made -> made.iterator().next().getString(0)))
        .onSuccess(
            token -> {
              if (token == null) {
                refuse(c);
              } else {
                c.json(new JsonObject().put("token", token));
              }
            })
        .onFailure(c::fail);
  }

  private Future<JsonArray> items(int account) {
    return pool.preparedQuery(ITEMS)
        .execute(Tuple.of(account))
        .map(
            rows -> {
              JsonArray told = new JsonArray();
              rows.forEach(row -> told.add(item(row.getInteger(0), row.getString(1))));
              return told;
            });
  }

  private Future<JsonObject> add(int account, RoutingContext c) {
    String text = c.body().asJsonObject().getString("text");
    return pool.preparedQuery(ADD)
        .execute(Tuple.of(account, text))
        .map(rows -> item(rows.iterator().next().getInteger(0), text));
  }

  private interface Account {
    void is(int account);
  }

  /** Goes on with the account of the token; nobody gets further. */
  private void known(RoutingContext c, Account then) {
    String field = c.request().getHeader("Authorization");
    String token = field == null ? "" : field.replaceFirst("^Bearer ", "");
    pool.preparedQuery(ACCOUNT)
        .execute(Tuple.of(token))
        .onSuccess(
            rows -> {
              if (rows.size() == 0) {
                refuse(c);
              } else {
                then.is(rows.iterator().next().getInteger(0));
              }
            })
        .onFailure(c::fail);
  }

  /** Rows of `world`, each by a statement of its own, in one pipeline. */
  private static Future<List<JsonObject>> each(SqlClient client, List<Integer> ids) {
    List<Future<JsonObject>> asked = ids.stream().map(id -> one(client, id)).toList();
    return Future.all(asked).map(all -> all.<JsonObject>list());
  }

  private static Future<JsonObject> one(SqlClient client, int id) {
    Function<Row, JsonObject> told = row -> row(row.getInteger(0), row.getInteger(1));
    return client
        .preparedQuery(ONE)
        .execute(Tuple.of(id))
        .map(rows -> told.apply(rows.iterator().next()));
  }

  private static JsonObject row(int id, int number) {
    return new JsonObject().put("id", id).put("number", number);
  }

  private static JsonObject item(int id, String text) {
    return new JsonObject().put("id", id).put("text", text);
  }

  private static List<Integer> ids(RoutingContext c) {
    return Contract.chain(number(c, "id"), Contract.clamped(c.request().getParam("count")));
  }

  private static int number(RoutingContext c, String name) {
    return Integer.parseInt(c.request().getParam(name));
  }

  private static void refuse(RoutingContext c) {
    c.response().setStatusCode(401);
    c.json(new JsonObject());
  }

  private static void say(RoutingContext c, int status, Future<?> said) {
    said.onSuccess(
            told -> {
              c.response().setStatusCode(status);
              c.json(told);
            })
        .onFailure(c::fail);
  }
}
