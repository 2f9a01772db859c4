package wiretrial.subjects.springboot;

import java.util.List;
import java.util.Map;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.ModelAndView;
import wiretrial.subjects.web.Contract;
import wiretrial.subjects.web.Contract.Item;
import wiretrial.subjects.web.Contract.Login;
import wiretrial.subjects.web.Contract.Message;
import wiretrial.subjects.web.Contract.Row;
import wiretrial.subjects.web.Contract.Text;
import wiretrial.subjects.web.Contract.Token;

/** The contract `web` in Spring MVC: a controller, JSON by Jackson, and a view of Thymeleaf. */
@RestController
class Routes {
  private final Tables tables;

  Routes(Tables tables) {
    this.tables = tables;
  }

  @GetMapping(path = "/plaintext", produces = MediaType.TEXT_PLAIN_VALUE)
  String plaintext() {
    return Contract.GREETING;
  }

  @GetMapping("/json")
  Message json() {
    return new Message(Contract.GREETING);
  }

  @GetMapping("/db")
  Row one(@RequestParam int id) {
    return tables.row(id);
  }

  @GetMapping("/queries")
  List<Row> queries(@RequestParam String id, @RequestParam(required = false) String count) {
    return tables.rows(Contract.ids(id, count));
  }

  @GetMapping("/updates")
  List<Row> updates(
      @RequestParam String id,
      @RequestParam(required = false) String count,
      @RequestParam String number) {
    List<Row> changes = Contract.changes(id, count, number);
    tables.change(changes);
    return changes;
  }

  @GetMapping("/cached")
  List<Row> cached(@RequestParam String id, @RequestParam(required = false) String count) {
    return tables.cached(Contract.ids(id, count));
  }

  @GetMapping("/fortunes")
  ModelAndView fortunes() {
    return new ModelAndView("fortunes", Map.of("fortunes", tables.fortunes()));
  }

  @PostMapping("/login")
  Token login(@RequestBody Login said) {
    return tables.login(said).orElseThrow(Routes::refused);
  }

  @GetMapping("/items")
  List<Item> items(@RequestHeader(name = "Authorization", required = false) String field) {
    return tables.items(known(field));
  }

  @PostMapping("/items")
  @ResponseStatus(HttpStatus.CREATED)
  Item add(
      @RequestHeader(name = "Authorization", required = false) String field,
      @RequestBody Text said) {
    return tables.add(known(field), said.text());
  }

  /** Whose token it is; nobody gets further. */
  private int known(String field) {
    return tables.account(Contract.token(field)).orElseThrow(Routes::refused);
  }

  private static ResponseStatusException refused() {
    return new ResponseStatusException(HttpStatus.UNAUTHORIZED);
  }
}
