package wiretrial.subjects.web;

import java.util.List;
import wiretrial.subjects.web.Contract.Fortune;

/** The page of the contract `web`, put together: for servers that bring no templates. */
public final class Page {
  private Page() {}

  /** The page of these rows. */
  public static String of(List<Fortune> fortunes) {
    StringBuilder page = new StringBuilder(2048);
    page.append("<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table>");
    page.append("<tr><th>id</th><th>message</th></tr>");
    for (Fortune fortune : fortunes) {
      page.append("<tr><td>").append(fortune.id()).append("</td><td>");
      escape(fortune.message(), page);
      page.append("</td></tr>");
    }
    return page.append("</table></body></html>").toString();
  }

  private static void escape(String text, StringBuilder page) {
    for (int place = 0; place < text.length(); place++) {
      char letter = text.charAt(place);
      switch (letter) {
        case '&' -> page.append("&amp;");
        case '<' -> page.append("&lt;");
        case '>' -> page.append("&gt;");
        case '"' -> page.append("&quot;");
        case '\'' -> page.append("&#39;");
        default -> page.append(letter);
      }
    }
  }
}
