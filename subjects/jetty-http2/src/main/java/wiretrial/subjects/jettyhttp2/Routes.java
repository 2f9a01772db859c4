package wiretrial.subjects.jettyhttp2;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * The routes of the contracts, without servlets.
 *
 * <p>Knows requests; must not know connections.
 */
final class Routes extends Handler.Abstract.NonBlocking {
    private static final byte[] MESSAGE =
            "{\"seq\":\"0000000000000000\",\"text\":\"one message of 64 bytes.....\"}"
                    .getBytes(StandardCharsets.UTF_8);

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        String method = request.getMethod();
        switch (Request.getPathInContext(request)) {
            case "/echo" -> {
                if (method.equals("POST")) {
                    echo(request, response, callback);
                } else {
                    refuse(request, response, callback);
                }
            }
            case "/message" -> {
                if (method.equals("GET") || method.equals("HEAD")) {
                    response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json");
                    response.getHeaders().put(HttpHeader.CONTENT_LENGTH, MESSAGE.length);
                    response.write(true, ByteBuffer.wrap(MESSAGE), callback);
                } else {
                    refuse(request, response, callback);
                }
            }
            default ->
                    Response.writeError(
                            request, response, callback, HttpStatus.NOT_FOUND_404);
        }
        return true;
    }

    /** Each piece goes back as it comes. */
    private static void echo(Request request, Response response, Callback callback) {
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/octet-stream");
        if (request.getLength() >= 0) {
            response.getHeaders().put(HttpHeader.CONTENT_LENGTH, request.getLength());
        }
        Content.copy(request, response, callback);
    }

    private static void refuse(Request request, Response response, Callback callback) {
        Response.writeError(request, response, callback, HttpStatus.METHOD_NOT_ALLOWED_405);
    }
}
