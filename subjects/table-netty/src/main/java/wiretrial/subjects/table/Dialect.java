package wiretrial.subjects.table;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;

/** How one connection is spoken to: an encoding, on a stream or in WebSocket messages. */
record Dialect(Encoding encoding, boolean inMessages) {
    /** What is written for a packet, of which it takes a reference of its own. */
    Object frame(ByteBuf packet) {
        if (!inMessages) {
            return packet.retainedDuplicate();
        }
        if (encoding == Encoding.BINARY) {
            return new BinaryWebSocketFrame(packet.retainedDuplicate());
        }
        // Without the end of the line.
        int length = packet.readableBytes() - 1;
        return new TextWebSocketFrame(packet.retainedSlice(packet.readerIndex(), length));
    }
}
