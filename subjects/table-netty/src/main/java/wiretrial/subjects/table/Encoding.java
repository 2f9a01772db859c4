package wiretrial.subjects.table;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/** How packets are written. */
enum Encoding {
    BINARY,
    JSON;

    /** No packet is longer, as it travels. */
    static final int LARGEST = 64 * 1024;

    static final int BAD = 3;
    static final int PING = 7;
    static final int LOGIN_REQUEST = 10;
    static final int LOGIN_RESPONSE = 11;
    static final int JOIN_REQUEST = 30;
    static final int JOIN_RESPONSE = 31;
    static final int LEAVE_REQUEST = 36;
    static final int LEAVE_RESPONSE = 37;
    static final int GAME = 100;
    static final int LOBBY_SUBSCRIBE = 200;
    static final int LOBBY_SNAPSHOT = 201;

    /** A binary packet begins with its length, of which the first byte is 0. */
    static Encoding ofFirst(byte first) {
        return first == '{' ? JSON : BINARY;
    }

    /** The packet that all of these bytes are. */
    Request read(ByteBuf bytes) throws NoPacket {
        return this == BINARY ? Binary.read(bytes) : Json.read(bytes);
    }

    /** The packet as it stands in a stream. */
    ByteBuf write(Reply reply, ByteBufAllocator allocator) {
        ByteBuf out = allocator.ioBuffer();
        if (this == BINARY) {
            Binary.write(reply, out);
        } else {
            Json.write(reply, out);
            out.writeByte('\n');
        }
        return out;
    }
}
