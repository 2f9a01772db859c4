package wiretrial.subjects.javalin;

import io.javalin.Javalin;
import io.javalin.http.Context;
import io.javalin.http.UnauthorizedResponse;
import io.javalin.rendering.template.JavalinThymeleaf;
import java.util.List;
import java.util.Map;
import wiretrial.subjects.web.Contract;
import wiretrial.subjects.web.Contract.Login;
import wiretrial.subjects.web.Contract.Row;
import wiretrial.subjects.web.Contract.Text;
import wiretrial.subjects.web.Store;

/** The contract `web` in Javalin: routes, `ctx.json`, `bodyAsClass`, and Thymeleaf. */
public final class Main {
  private static Store store;

  private Main() {}

  public static void main(String[] words) {
    List<String> options = List.of(words);
    boolean tuned = options.contains("--tuned");
    store = new Store();
    Javalin.create(
            config -> {
              config.showJavalinBanner = false;
              config.fileRenderer(new JavalinThymeleaf());
              config.useVirtualThreads = tuned && Runtime.version().feature() >= 21;
              config.http.generateEtags = false;
            })
        .get("/plaintext", ctx -> ctx.contentType("text/plain").result(Contract.GREETING))
        .get("/json", ctx -> ctx.json(new Contract.Message(Contract.GREETING)))
        .get("/db", ctx -> ctx.json(store.row(Integer.parseInt(ctx.queryParam("id")))))
        .get("/queries", ctx -> ctx.json(store.rows(ids(ctx))))
        .get("/updates", Main::updates)
        .get("/cached", ctx -> ctx.json(store.cached(ids(ctx))))
        .get("/fortunes", Main::fortunes)
        .post("/login", Main::login)
        .get("/items", ctx -> ctx.json(store.items(known(ctx))))
        .post("/items", Main::add)
        .start(after(options, "--host"), Integer.parseInt(after(options, "--port")));
  }

  private static void updates(Context ctx) {
    List<Row> changes =
        Contract.changes(ctx.queryParam("id"), ctx.queryParam("count"), ctx.queryParam("number"));
    store.change(changes);
    ctx.json(changes);
  }

  private static void fortunes(Context ctx) {
    ctx.render("templates/fortunes.html", Map.of("fortunes", store.fortunes()));
    ctx.contentType(Contract.HTML);
  }

  private static void login(Context ctx) {
    ctx.json(store.login(ctx.bodyAsClass(Login.class)).orElseThrow(UnauthorizedResponse::new));
  }

  private static void add(Context ctx) {
    int account = known(ctx);
    ctx.status(201).json(store.add(account, ctx.bodyAsClass(Text.class).text()));
  }

  /** Whose token it is; nobody gets further. */
  private static int known(Context ctx) {
    String token = Contract.token(ctx.header("Authorization"));
    return store.account(token).orElseThrow(UnauthorizedResponse::new);
  }

  private static List<Integer> ids(Context ctx) {
    return Contract.ids(ctx.queryParam("id"), ctx.queryParam("count"));
  }

  private static String after(List<String> options, String name) {
    return options.get(options.indexOf(name) + 1);
  }
}
