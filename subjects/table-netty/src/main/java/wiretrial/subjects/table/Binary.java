package wiretrial.subjects.table;

import static wiretrial.subjects.table.Encoding.BAD;
import static wiretrial.subjects.table.Encoding.GAME;
import static wiretrial.subjects.table.Encoding.JOIN_REQUEST;
import static wiretrial.subjects.table.Encoding.JOIN_RESPONSE;
import static wiretrial.subjects.table.Encoding.LEAVE_REQUEST;
import static wiretrial.subjects.table.Encoding.LEAVE_RESPONSE;
import static wiretrial.subjects.table.Encoding.LOBBY_SNAPSHOT;
import static wiretrial.subjects.table.Encoding.LOBBY_SUBSCRIBE;
import static wiretrial.subjects.table.Encoding.LOGIN_REQUEST;
import static wiretrial.subjects.table.Encoding.LOGIN_RESPONSE;
import static wiretrial.subjects.table.Encoding.PING;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;

/**
 * Packets as bytes: length, class, fields.
 *
 * <p>Knows how fields lie in bytes; must not know channels.
 */
final class Binary {
    private static final int HEADER = 5;
    private static final int LOAD_REQUEST = 1;
    private static final int LOAD_RESPONSE = 2;
    private static final int RESPONSE_LENGTH = HEADER + 4 + 4 + 4 + 1;

    private Binary() {}

    static Request read(ByteBuf bytes) throws NoPacket {
        try {
            return readFields(bytes);
        } catch (IndexOutOfBoundsException error) {
            throw new NoPacket("a packet shorter than its fields");
        }
    }

    /** What a packet of the game says. */
    static Request game(int table, ByteBuf data) throws NoPacket {
        int type = open(data);
        if (type != LOAD_REQUEST) {
            return new Request.Unknown(GAME);
        }
        int player = data.readInt();
        int at = data.readInt();
        int number = data.readInt();
        int delay = data.readInt();
        int resend = data.readUnsignedByte();
        if (delay < 0 || resend > 1) {
            throw new NoPacket("a field of an action that cannot be");
        }
        end(data);
        return new Request.Act(table, new Request.Action(player, at, number, delay, resend == 1));
    }

    static void write(Reply reply, ByteBuf out) {
        int start = out.writerIndex();
        out.writeInt(0);
        if (reply instanceof Reply.Copy copy) {
            Request.Action action = copy.action();
            out.writeByte(GAME).writeInt(action.table()).writeInt(action.player());
            out.writeInt(RESPONSE_LENGTH);
            response(action, out);
            out.writeInt(0);
        } else if (reply instanceof Reply.Lobby lobby) {
            out.writeByte(LOBBY_SNAPSHOT).writeInt(lobby.number()).writeInt(lobby.tables());
            out.writeInt(lobby.players()).writeInt(lobby.listed().size());
            for (Reply.Listed listed : lobby.listed()) {
                out.writeInt(listed.table()).writeInt(listed.seated());
            }
        } else if (reply instanceof Reply.Bad bad) {
            out.writeByte(BAD).writeByte(bad.type()).writeByte(bad.error());
        } else if (reply instanceof Reply.Ping ping) {
            out.writeByte(PING).writeInt(ping.id());
        } else if (reply instanceof Reply.LoggedIn in) {
            byte[] name = in.name().getBytes(StandardCharsets.UTF_8);
            out.writeByte(LOGIN_RESPONSE).writeShort(name.length).writeBytes(name);
            // Neither code, message nor credentials.
            out.writeInt(in.player()).writeByte(in.status()).writeZero(4 + 2 + 4);
        } else if (reply instanceof Reply.Joined joined) {
            out.writeByte(JOIN_RESPONSE).writeInt(joined.table()).writeByte(joined.seat());
            out.writeByte(joined.status()).writeInt(0);
        } else if (reply instanceof Reply.Left left) {
            out.writeByte(LEAVE_RESPONSE).writeInt(left.table()).writeByte(left.status());
            out.writeInt(0);
        }
        out.setInt(start, out.writerIndex() - start);
    }

    /** The table's response, as a packet of the game. */
    static void response(Request.Action action, ByteBuf out) {
        out.writeInt(RESPONSE_LENGTH).writeByte(LOAD_RESPONSE);
        out.writeInt(action.player()).writeInt(action.table()).writeInt(action.number());
        out.writeBoolean(action.resend());
    }

    private static Request readFields(ByteBuf bytes) throws NoPacket {
        int type = open(bytes);
        Request request;
        switch (type) {
            case PING -> request = new Request.Ping(bytes.readInt());
            case LOGIN_REQUEST -> {
                String name = string(bytes);
                string(bytes);
                bytes.readInt();
                skipArray(bytes);
                request = new Request.LogIn(name);
            }
            case JOIN_REQUEST -> {
                int table = bytes.readInt();
                int seat = bytes.readByte();
                for (int left = count(bytes); left > 0; left--) {
                    // A parameter: its key, the type of its value, its value.
                    string(bytes);
                    bytes.readByte();
                    skipArray(bytes);
                }
                request = new Request.Join(table, seat);
            }
            case LEAVE_REQUEST -> request = new Request.Leave(bytes.readInt());
            case GAME -> {
                int table = bytes.readInt();
                bytes.readInt();
                ByteBuf data = bytes.readSlice(count(bytes));
                for (int left = count(bytes); left > 0; left--) {
                    string(bytes);
                    string(bytes);
                }
                request = game(table, data);
            }
            case LOBBY_SUBSCRIBE -> request = new Request.Look();
            default -> {
                return new Request.Unknown(type);
            }
        }
        end(bytes);
        return request;
    }

    /** Class of the one packet that these bytes are. */
    private static int open(ByteBuf bytes) throws NoPacket {
        int length = bytes.readableBytes();
        if (length < HEADER || bytes.readInt() != length) {
            throw new NoPacket("a packet with another length than it says");
        }
        return bytes.readUnsignedByte();
    }

    private static void end(ByteBuf bytes) throws NoPacket {
        if (bytes.isReadable()) {
            throw new NoPacket("a packet longer than its fields");
        }
    }

    private static int count(ByteBuf bytes) throws NoPacket {
        int count = bytes.readInt();
        if (count < 0) {
            throw new NoPacket("a count below 0");
        }
        return count;
    }

    private static void skipArray(ByteBuf bytes) throws NoPacket {
        bytes.skipBytes(count(bytes));
    }

    private static String string(ByteBuf bytes) throws NoPacket {
        int length = bytes.readUnsignedShort();
        ByteBuf text = bytes.readSlice(length);
        if (!ByteBufUtil.isText(text, StandardCharsets.UTF_8)) {
            throw new NoPacket("text that is not UTF-8");
        }
        return text.toString(StandardCharsets.UTF_8);
    }
}
