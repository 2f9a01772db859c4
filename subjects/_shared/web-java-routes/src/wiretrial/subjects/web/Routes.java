package wiretrial.subjects.web;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import wiretrial.subjects.web.Contract.Login;
import wiretrial.subjects.web.Contract.Row;
import wiretrial.subjects.web.Contract.Text;

/** The routes of the contract `web`, a request in and an answer out: for servers without routes. */
public final class Routes {
  private static final String JSON = "application/json";
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final Store store = new Store();
  private final Map<String, Route> routes =
      Map.ofEntries(
          Map.entry("GET /plaintext", Routes::plaintext),
          Map.entry("GET /json", Routes::json),
          Map.entry("GET /db", this::one),
          Map.entry("GET /queries", this::queries),
          Map.entry("GET /updates", this::updates),
          Map.entry("GET /cached", this::cached),
          Map.entry("GET /fortunes", this::fortunes),
          Map.entry("POST /login", this::login),
          Map.entry("GET /items", this::items),
          Map.entry("POST /items", this::add));

  /** What a route looks at. */
  public interface Request {
    /** The value in the query; null where it has none of this name. */
    String value(String name);

    /** The field Authorization; null where there is none. */
    String authorization();

    /** The whole body. */
    byte[] body() throws IOException;
  }

  /** A status, a media type and a body. */
  public record Answer(int status, String kind, byte[] content) {}

  /** Gives the answer to a request. */
  public interface Route {
    Answer answer(Request request) throws IOException;
  }

  /** The route of this method and path; none where the contract has none. */
  public Optional<Route> find(String method, String path) {
    return Optional.ofNullable(routes.get(method + " " + path));
  }

  /** Whether its answer may have to wait for the database. */
  public static boolean waits(String path) {
    return !path.equals("/plaintext") && !path.equals("/json");
  }

  private static Answer plaintext(Request request) {
    return new Answer(200, "text/plain", Contract.GREETING.getBytes(StandardCharsets.UTF_8));
  }

  private static Answer json(Request request) throws JsonProcessingException {
    return told(200, new Contract.Message(Contract.GREETING));
  }

  private Answer one(Request request) throws JsonProcessingException {
    return told(200, store.row(Integer.parseInt(request.value("id"))));
  }

  private Answer queries(Request request) throws JsonProcessingException {
    return told(200, store.rows(ids(request)));
  }

  private Answer updates(Request request) throws JsonProcessingException {
    List<Row> changes =
        Contract.changes(request.value("id"), request.value("count"), request.value("number"));
    store.change(changes);
    return told(200, changes);
  }

  private Answer cached(Request request) throws JsonProcessingException {
    return told(200, store.cached(ids(request)));
  }

  private Answer fortunes(Request request) {
    byte[] page = Page.of(store.fortunes()).getBytes(StandardCharsets.UTF_8);
    return new Answer(200, Contract.HTML, page);
  }

  private Answer login(Request request) throws IOException {
    Optional<Contract.Token> token = store.login(MAPPER.readValue(request.body(), Login.class));
    return token.isPresent() ? told(200, token.get()) : refused();
  }

  private Answer items(Request request) throws JsonProcessingException {
    Optional<Integer> account = account(request);
    return account.isPresent() ? told(200, store.items(account.get())) : refused();
  }

  private Answer add(Request request) throws IOException {
    Optional<Integer> account = account(request);
    if (account.isEmpty()) {
      return refused();
    }
    Text said = MAPPER.readValue(request.body(), Text.class);
    return told(201, store.add(account.get(), said.text()));
  }

  /** Whose token it is; none: nobody's. */
  private Optional<Integer> account(Request request) {
    return store.account(Contract.token(request.authorization()));
  }

  private static List<Integer> ids(Request request) {
    return Contract.ids(request.value("id"), request.value("count"));
  }

  private static Answer told(int status, Object said) throws JsonProcessingException {
    return new Answer(status, JSON, MAPPER.writeValueAsBytes(said));
  }

  private static Answer refused() throws JsonProcessingException {
    return told(401, Map.of());
  }
}
