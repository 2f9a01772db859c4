package wiretrial.subjects.table;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import io.netty.buffer.ByteBufOutputStream;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/**
 * Packets as JSON: one object each.
 *
 * <p>Knows the names of the fields; must not know channels.
 */
final class Json {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final ObjectReader READER =
            MAPPER.readerFor(Fields.class).with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private Json() {}

    /** Every field that any request has. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    static final class Fields {
        public Integer classId;
        public Integer id;
        public String user;
        public Integer tableid;
        public Integer seat;
        public byte[] gamedata;
    }

    static Request read(ByteBuf bytes) throws NoPacket {
        Fields fields;
        try {
            fields = READER.readValue((InputStream) new ByteBufInputStream(bytes));
        } catch (IOException error) {
            throw new NoPacket("no JSON object with the fields of a packet");
        }
        if (fields == null) {
            throw new NoPacket("no object");
        }
        int type = needed(fields.classId);
        return switch (type) {
            case Encoding.PING -> new Request.Ping(needed(fields.id));
            case Encoding.LOGIN_REQUEST -> new Request.LogIn(needed(fields.user));
            case Encoding.JOIN_REQUEST ->
                    new Request.Join(needed(fields.tableid), needed(fields.seat));
            case Encoding.LEAVE_REQUEST -> new Request.Leave(needed(fields.tableid));
            case Encoding.GAME -> game(needed(fields.tableid), needed(fields.gamedata));
            case Encoding.LOBBY_SUBSCRIBE -> new Request.Look();
            default -> new Request.Unknown(type);
        };
    }

    static void write(Reply reply, ByteBuf bytes) {
        OutputStream stream = new ByteBufOutputStream(bytes);
        try (JsonGenerator out = MAPPER.getFactory().createGenerator(stream)) {
            out.writeStartObject();
            writeFields(reply, out);
            out.writeEndObject();
        } catch (IOException error) {
            // Into memory, it can be written.
            throw new UncheckedIOException(error);
        }
    }

    private static Request game(int table, byte[] data) throws NoPacket {
        try {
            return Binary.game(table, Unpooled.wrappedBuffer(data));
        } catch (IndexOutOfBoundsException error) {
            throw new NoPacket("a packet of the game shorter than its fields");
        }
    }

    private static <T> T needed(T field) throws NoPacket {
        if (field == null) {
            throw new NoPacket("a packet without a field of its class");
        }
        return field;
    }

    private static void writeFields(Reply reply, JsonGenerator out) throws IOException {
        if (reply instanceof Reply.Copy copy) {
            Request.Action action = copy.action();
            ByteBuf data = Unpooled.buffer(32);
            Binary.response(action, data);
            out.writeNumberField("classId", Encoding.GAME);
            out.writeNumberField("tableid", action.table());
            out.writeNumberField("pid", action.player());
            out.writeBinaryField("gamedata", ByteBufUtil.getBytes(data));
            out.writeArrayFieldStart("attributes");
            out.writeEndArray();
        } else if (reply instanceof Reply.Lobby lobby) {
            out.writeNumberField("classId", Encoding.LOBBY_SNAPSHOT);
            out.writeNumberField("seq", Integer.toUnsignedLong(lobby.number()));
            out.writeNumberField("tables", lobby.tables());
            out.writeNumberField("players", lobby.players());
            out.writeArrayFieldStart("list");
            for (Reply.Listed listed : lobby.listed()) {
                out.writeStartObject();
                out.writeNumberField("tableid", listed.table());
                out.writeNumberField("seated", listed.seated());
                out.writeEndObject();
            }
            out.writeEndArray();
        } else if (reply instanceof Reply.Bad bad) {
            out.writeNumberField("classId", Encoding.BAD);
            out.writeNumberField("cmd", bad.type());
            out.writeNumberField("error", bad.error());
        } else if (reply instanceof Reply.Ping ping) {
            out.writeNumberField("classId", Encoding.PING);
            out.writeNumberField("id", ping.id());
        } else if (reply instanceof Reply.LoggedIn in) {
            out.writeNumberField("classId", Encoding.LOGIN_RESPONSE);
            out.writeStringField("screenname", in.name());
            out.writeNumberField("pid", in.player());
            out.writeNumberField("status", in.status());
            out.writeNumberField("code", 0);
            out.writeStringField("message", "");
            out.writeStringField("credentials", "");
        } else if (reply instanceof Reply.Joined joined) {
            out.writeNumberField("classId", Encoding.JOIN_RESPONSE);
            out.writeNumberField("tableid", joined.table());
            out.writeNumberField("seat", joined.seat());
            out.writeNumberField("status", joined.status());
            out.writeNumberField("code", 0);
        } else if (reply instanceof Reply.Left left) {
            out.writeNumberField("classId", Encoding.LEAVE_RESPONSE);
            out.writeNumberField("tableid", left.table());
            out.writeNumberField("status", left.status());
            out.writeNumberField("code", 0);
        }
    }
}
