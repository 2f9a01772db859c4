package wiretrial.driver;

import java.util.OptionalLong;

/** A library's client, with one exchange in flight. A call ends when its thread is interrupted. */
public interface Client {
    /** Connects, where the library can do so without a request. */
    void open() throws Exception;

    /** Sends the message and returns the content of the reply. */
    byte[] exchange(byte[] message) throws Exception;

    /** Ends the connection in order. */
    void close() throws Exception;

    /** Ends it at once. */
    void abort();

    /** Connections that it opened so far, where the library tells. */
    OptionalLong opened();
}
