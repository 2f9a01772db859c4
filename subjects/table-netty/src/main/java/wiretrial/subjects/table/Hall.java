package wiretrial.subjects.table;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Who sits at which table, and who looks at the lobby.
 *
 * <p>Knows players by what they can be told; must not know what they said.
 */
final class Hall {
    private static final int MOST_LISTED = 100;
    private static final int FIRST_UNNUMBERED = 1 << 30;

    private final Map<Integer, CopyOnWriteArrayList<Player>> tables = new ConcurrentHashMap<>();
    private final Set<Player> lookers = ConcurrentHashMap.newKeySet();
    private final AtomicInteger nextPlayer = new AtomicInteger(FIRST_UNNUMBERED);
    /** Of the next snapshot. Only the one task that tells the lobby uses it. */
    private int number;

    /** A player's number: the digits at the end of its name, or a new one. */
    int numberPlayer(String name) {
        int digits = name.length();
        while (digits > 0 && name.charAt(digits - 1) >= '0' && name.charAt(digits - 1) <= '9') {
            digits--;
        }
        try {
            return Integer.parseInt(name.substring(digits));
        } catch (NumberFormatException none) {
            return nextPlayer.getAndIncrement();
        }
    }

    void sit(int table, Player player) {
        tables.compute(
                table,
                (number, seats) -> {
                    var here = seats == null ? new CopyOnWriteArrayList<Player>() : seats;
                    here.add(player);
                    return here;
                });
    }

    void standUp(int table, Player player) {
        tables.computeIfPresent(
                table,
                (number, seats) -> {
                    seats.remove(player);
                    return seats.isEmpty() ? null : seats;
                });
    }

    /** Tells everybody at the table. Who acts does so on one event loop, so its actions keep their order. */
    void respond(Request.Action action, ByteBufAllocator allocator) {
        List<Player> seats = tables.get(action.table());
        if (seats != null) {
            tell(seats, new Reply.Copy(action), allocator);
        }
    }

    void look(Player player) {
        lookers.add(player);
    }

    void lookAway(Player player) {
        lookers.remove(player);
    }

    /** Tells the lobby to everybody who looks. */
    void tellLobby() {
        if (!lookers.isEmpty()) {
            tell(lookers, lobby(), ByteBufAllocator.DEFAULT);
            number++;
        }
    }

    private Reply.Lobby lobby() {
        List<Reply.Listed> listed = new ArrayList<>();
        int players = 0;
        for (var table : tables.entrySet()) {
            int seated = table.getValue().size();
            if (seated > 0) {
                listed.add(new Reply.Listed(table.getKey(), seated));
                players += seated;
            }
        }
        listed.sort(Comparator.comparingInt(Reply.Listed::table));
        int all = listed.size();
        return new Reply.Lobby(
                number, all, players, listed.subList(0, Math.min(all, MOST_LISTED)));
    }

    /** Writes the reply once in each encoding that somebody needs, and shares it. */
    private static void tell(Collection<Player> players, Reply reply, ByteBufAllocator allocator) {
        Map<Encoding, ByteBuf> written = new EnumMap<>(Encoding.class);
        try {
            for (Player player : players) {
                player.tell(
                        written.computeIfAbsent(
                                player.dialect().encoding(),
                                encoding -> encoding.write(reply, allocator)));
            }
        } finally {
            written.values().forEach(ByteBuf::release);
        }
    }
}
