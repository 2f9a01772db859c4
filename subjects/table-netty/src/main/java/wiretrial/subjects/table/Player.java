package wiretrial.subjects.table;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.util.concurrent.TimeUnit;

/**
 * One player: what it may do, and how far it has come.
 *
 * <p>Knows requests and replies; must not know how they are framed. All but {@link #tell} is called
 * on the channel's event loop.
 */
final class Player {
    private static final int OK = 0;
    private static final int DENIED = 2;
    private static final int UNKNOWN = 0;
    private static final int NOT_NOW = 1;

    private final Hall hall;
    private final Channel channel;
    private final Dialect dialect;
    /** As the others call it; none before it logs in. */
    private Integer id;
    /** None: it sits nowhere. */
    private Integer table;
    /** Number of the next action; none before the first one. */
    private Integer next;
    private boolean looks;

    Player(Hall hall, Channel channel, Dialect dialect) {
        this.hall = hall;
        this.channel = channel;
        this.dialect = dialect;
    }

    Dialect dialect() {
        return dialect;
    }

    /** Sends it a packet that is written. Whoever does not read is closed: nobody waits for it. */
    void tell(ByteBuf packet) {
        if (channel.isWritable()) {
            channel.writeAndFlush(dialect.frame(packet), channel.voidPromise());
        } else {
            channel.close();
        }
    }

    /** Does what it asks for. */
    void hear(Request request) {
        Reply reply = reply(request);
        if (reply != null) {
            say(reply);
        }
    }

    void say(Reply reply) {
        ByteBuf packet = dialect.encoding().write(reply, channel.alloc());
        try {
            tell(packet);
        } finally {
            packet.release();
        }
    }

    /** However its connection ended, it is gone. */
    void leave() {
        if (table != null) {
            hall.standUp(table, this);
            table = null;
        }
        if (looks) {
            hall.lookAway(this);
            looks = false;
        }
    }

    private Reply reply(Request request) {
        if (request instanceof Request.Act act) {
            return act(act.table(), act.action());
        }
        if (request instanceof Request.Ping ping) {
            return new Reply.Ping(ping.id());
        }
        if (request instanceof Request.LogIn in) {
            int status = id == null ? OK : DENIED;
            id = id == null ? hall.numberPlayer(in.name()) : id;
            return new Reply.LoggedIn(in.name(), id, status);
        }
        if (request instanceof Request.Join join) {
            boolean granted = id != null && table == null;
            if (granted) {
                table = join.table();
                hall.sit(join.table(), this);
            }
            return new Reply.Joined(join.table(), join.seat(), granted ? OK : DENIED);
        }
        if (request instanceof Request.Leave leave) {
            boolean granted = table != null && table == leave.table();
            if (granted) {
                table = null;
                hall.standUp(leave.table(), this);
            }
            return new Reply.Left(leave.table(), granted ? OK : DENIED);
        }
        if (request instanceof Request.Look) {
            if (id == null) {
                return new Reply.Bad(Encoding.LOBBY_SUBSCRIBE, NOT_NOW);
            }
            looks = true;
            hall.look(this);
            return null;
        }
        return new Reply.Bad(((Request.Unknown) request).type(), UNKNOWN);
    }

    private Reply act(int at, Request.Action action) {
        boolean may =
                table != null
                        && table == at
                        && action.table() == at
                        && id == action.player()
                        && (next == null || next == action.number());
        if (!may) {
            return new Reply.Bad(Encoding.GAME, NOT_NOW);
        }
        next = action.number() + 1;
        if (action.delay() == 0) {
            hall.respond(action, channel.alloc());
        } else {
            channel.eventLoop()
                    .schedule(
                            () -> hall.respond(action, channel.alloc()),
                            action.delay(),
                            TimeUnit.MILLISECONDS);
        }
        return null;
    }
}
