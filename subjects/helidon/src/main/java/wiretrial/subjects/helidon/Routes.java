package wiretrial.subjects.helidon;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.UnauthorizedException;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.util.List;
import wiretrial.subjects.web.Contract;
import wiretrial.subjects.web.Contract.Login;
import wiretrial.subjects.web.Contract.Row;
import wiretrial.subjects.web.Contract.Text;
import wiretrial.subjects.web.Page;
import wiretrial.subjects.web.Store;

/** The routes: JSON by its support of Jackson, and a page that is put together. */
final class Routes implements HttpService {
  private static final Header PLAIN =
      HeaderValues.createCached(HeaderNames.CONTENT_TYPE, "text/plain");
  private static final Header HTML =
      HeaderValues.createCached(HeaderNames.CONTENT_TYPE, Contract.HTML);

  private final Store store;

  Routes(Store store) {
    this.store = store;
  }

  @Override
  public void routing(HttpRules rules) {
    rules
        .get("/plaintext", (asked, told) -> told.header(PLAIN).send(Contract.GREETING))
        .get("/json", (asked, told) -> told.send(new Contract.Message(Contract.GREETING)))
        .get("/db", (asked, told) -> told.send(store.row(Integer.parseInt(value(asked, "id")))))
        .get("/queries", (asked, told) -> told.send(store.rows(ids(asked))))
        .get("/updates", this::updates)
        .get("/cached", (asked, told) -> told.send(store.cached(ids(asked))))
        .get("/fortunes", (asked, told) -> told.header(HTML).send(Page.of(store.fortunes())))
        .post("/login", this::login)
        .get("/items", (asked, told) -> told.send(store.items(known(asked))))
        .post("/items", this::add);
  }

  private void updates(ServerRequest asked, ServerResponse told) {
    List<Row> changes =
        Contract.changes(value(asked, "id"), value(asked, "count"), value(asked, "number"));
    store.change(changes);
    told.send(changes);
  }

  private void login(ServerRequest asked, ServerResponse told) {
    Login said = asked.content().as(Login.class);
    told.send(store.login(said).orElseThrow(Routes::refused));
  }

  private void add(ServerRequest asked, ServerResponse told) {
    int account = known(asked);
    Text said = asked.content().as(Text.class);
    told.status(201).send(store.add(account, said.text()));
  }

  /** Whose token it is; nobody gets further. */
  private int known(ServerRequest asked) {
    String field = asked.headers().value(HeaderNames.AUTHORIZATION).orElse(null);
    return store.account(Contract.token(field)).orElseThrow(Routes::refused);
  }

  private static UnauthorizedException refused() {
    return new UnauthorizedException("no such account");
  }

  private static List<Integer> ids(ServerRequest asked) {
    return Contract.ids(value(asked, "id"), value(asked, "count"));
  }

  private static String value(ServerRequest asked, String name) {
    return asked.query().first(name).orElse(null);
  }
}
