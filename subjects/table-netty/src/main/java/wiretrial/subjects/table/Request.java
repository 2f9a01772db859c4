package wiretrial.subjects.table;

/** What a player says. */
sealed interface Request {
    record Ping(int id) implements Request {}

    record LogIn(String name) implements Request {}

    record Join(int table, int seat) implements Request {}

    record Leave(int table) implements Request {}

    record Act(int table, Action action) implements Request {}

    record Look() implements Request {}

    /** A class that nobody answers, or another packet of the game. */
    record Unknown(int type) implements Request {}

    /** An action, and with it the table's response. The delay is in milliseconds. */
    record Action(int player, int table, int number, int delay, boolean resend) {}
}
