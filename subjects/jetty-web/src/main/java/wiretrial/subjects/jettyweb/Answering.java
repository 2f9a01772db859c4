package wiretrial.subjects.jettyweb;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Fields;
import wiretrial.subjects.web.Routes;

/** Answers each request on a thread of the pool, which may wait for the database. */
final class Answering extends Handler.Abstract {
  private final Routes routes = new Routes();

  @Override
  public boolean handle(Request request, Response response, Callback callback) throws Exception {
    String path = Request.getPathInContext(request);
    Optional<Routes.Route> route = routes.find(request.getMethod(), path);
    if (route.isEmpty()) {
      // Jetty answers with 404.
      return false;
    }
    Routes.Answer answer = route.get().answer(new Asked(request));
    response.setStatus(answer.status());
    response.getHeaders().put(HttpHeader.CONTENT_TYPE, answer.kind());
    response.write(true, ByteBuffer.wrap(answer.content()), callback);
    return true;
  }

  private static final class Asked implements Routes.Request {
    private final Request request;
    private final Fields query;

    private Asked(Request request) {
      this.request = request;
      this.query = Request.extractQueryParameters(request);
    }

    @Override
    public String value(String name) {
      return query.getValue(name);
    }

    @Override
    public String authorization() {
      return request.getHeaders().get(HttpHeader.AUTHORIZATION);
    }

    @Override
    public byte[] body() throws IOException {
      ByteBuffer read = Content.Source.asByteBuffer(request);
      byte[] body = new byte[read.remaining()];
      read.get(body);
      return body;
    }
  }
}
