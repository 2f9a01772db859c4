package wiretrial.subjects.table;

import java.util.List;

/** What a player is told. */
sealed interface Reply {
    record Bad(int type, int error) implements Reply {}

    record Ping(int id) implements Reply {}

    record LoggedIn(String name, int player, int status) implements Reply {}

    record Joined(int table, int seat, int status) implements Reply {}

    record Left(int table, int status) implements Reply {}

    /** Somebody at the table has acted. */
    record Copy(Request.Action action) implements Reply {}

    /** How the tables are: the counts, and the first of them. */
    record Lobby(int number, int tables, int players, List<Listed> listed) implements Reply {}

    /** A table in that list. */
    record Listed(int table, int seated) {}
}
