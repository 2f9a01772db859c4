package wiretrial.driver;

import java.time.Duration;

/** Interrupts the thread that made it when an iteration outlasts its timeout. */
final class Watchdog {
    private static final long NEVER = Long.MAX_VALUE;

    private final Thread watched = Thread.currentThread();
    private final long timeoutNs;
    private final long start = System.nanoTime();
    private long deadlineNs = NEVER; // Since the start.
    private boolean barked;

    Watchdog(Duration timeout) {
        timeoutNs = timeout.toNanos();
        Thread thread = new Thread(this::watch, "watchdog");
        thread.setDaemon(true);
        thread.start();
    }

    synchronized void restart() {
        deadlineNs = System.nanoTime() - start + timeoutNs;
        barked = false;
    }

    /** Nobody is interrupted from now on. Returns whether the time was over. */
    synchronized boolean stop() {
        deadlineNs = NEVER;
        Thread.interrupted(); // It may have been interrupted after its last wait.
        return barked;
    }

    private void watch() {
        try {
            while (true) {
                Thread.sleep(Math.max(timeoutNs / 10_000_000, 1));
                look();
            }
        } catch (InterruptedException ended) {
            // Nobody does.
        }
    }

    private synchronized void look() {
        if (System.nanoTime() - start > deadlineNs) {
            deadlineNs = NEVER;
            barked = true;
            watched.interrupt();
        }
    }
}
