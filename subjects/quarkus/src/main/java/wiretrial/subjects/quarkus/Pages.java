package wiretrial.subjects.quarkus;

import io.quarkus.qute.CheckedTemplate;
import io.quarkus.qute.TemplateInstance;
import java.util.List;
import wiretrial.subjects.web.Contract.Fortune;

/** The templates of Qute; the build gives each method its body. */
@CheckedTemplate
public final class Pages {
  private Pages() {}

  public static native TemplateInstance fortunes(List<Fortune> fortunes);
}
