package wiretrial.subjects.quarkus;

import io.quarkus.qute.TemplateInstance;
import io.smallrye.common.annotation.NonBlocking;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.List;
import org.jboss.resteasy.reactive.ResponseStatus;
import org.jboss.resteasy.reactive.RestHeader;
import org.jboss.resteasy.reactive.RestQuery;
import wiretrial.subjects.web.Contract;
import wiretrial.subjects.web.Contract.Item;
import wiretrial.subjects.web.Contract.Login;
import wiretrial.subjects.web.Contract.Message;
import wiretrial.subjects.web.Contract.Row;
import wiretrial.subjects.web.Contract.Text;
import wiretrial.subjects.web.Contract.Token;

/** The contract `web` in Quarkus: methods that the event loops call, and JSON by Jackson. */
@Path("/")
@NonBlocking
public class Routes {
  private final Store store;

  Routes(Store store) {
    this.store = store;
  }

  @GET
  @Path("plaintext")
  @Produces(MediaType.TEXT_PLAIN)
  public String plaintext() {
    return Contract.GREETING;
  }

  @GET
  @Path("json")
  public Message json() {
    return new Message(Contract.GREETING);
  }

  @GET
  @Path("db")
  public Uni<Row> one(@RestQuery int id) {
    return store.row(id);
  }

  @GET
  @Path("queries")
  public Uni<List<Row>> queries(@RestQuery String id, @RestQuery String count) {
    return store.rows(Contract.ids(id, count));
  }

  @GET
  @Path("updates")
  public Uni<List<Row>> updates(
      @RestQuery String id, @RestQuery String count, @RestQuery String number) {
    return store.change(Contract.changes(id, count, number));
  }

  @GET
  @Path("cached")
  public Uni<List<Row>> cached(@RestQuery String id, @RestQuery String count) {
    return store.cached(Contract.ids(id, count));
  }

  @GET
  @Path("fortunes")
  @Produces(Contract.HTML)
  public Uni<TemplateInstance> fortunes() {
    return store.fortunes().map(Pages::fortunes);
  }

  @POST
  @Path("login")
  public Uni<Token> login(Login said) {
    return store.login(said).onItem().ifNull().failWith(Routes::refused);
  }

  @GET
  @Path("items")
  public Uni<List<Item>> items(@RestHeader("Authorization") String field) {
    return known(field).chain(store::items);
  }

  @POST
  @Path("items")
  @ResponseStatus(201)
  public Uni<Item> add(@RestHeader("Authorization") String field, Text said) {
    return known(field).chain(account -> store.add(account, said.text()));
  }

  /** Whose token it is; nobody gets further. */
  private Uni<Integer> known(String field) {
    return store.account(Contract.token(field)).onItem().ifNull().failWith(Routes::refused);
  }

  private static WebApplicationException refused() {
    return new WebApplicationException(Response.Status.UNAUTHORIZED);
  }
}
