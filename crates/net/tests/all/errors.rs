//! Each number of the kernel has its class and its words.

use rustix::io::Errno;
use wiretrial_net::{NetError, NetErrorClass};

#[test]
fn numbers_become_classes_and_words() {
    use NetErrorClass::{NoDescriptors, NoPorts, Other, Refused, Reset, TimedOut, Unreachable};
    let cases = [
        (Errno::CONNREFUSED, Refused, "connection refused: nothing listens there"),
        (Errno::CONNRESET, Reset, "connection reset by the peer"),
        (Errno::CONNABORTED, Reset, "connection reset by the peer"),
        (Errno::PIPE, Reset, "connection reset by the peer"),
        (Errno::TIMEDOUT, TimedOut, "connection timed out: the peer does not answer"),
        (Errno::NETUNREACH, Unreachable, "unreachable: no route to the peer"),
        (Errno::HOSTUNREACH, Unreachable, "unreachable: no route to the peer"),
        (Errno::NETDOWN, Unreachable, "unreachable: no route to the peer"),
        (Errno::MFILE, NoDescriptors, "out of file descriptors"),
        (Errno::NFILE, NoDescriptors, "out of file descriptors"),
        (Errno::ADDRNOTAVAIL, NoPorts, "out of local ports"),
        (Errno::NOBUFS, Other, "the kernel refused: No buffer space available (os error 105)"),
    ];
    for (errno, class, text) in cases {
        let error = NetError::from(errno);
        assert_eq!(error.class(), class, "{errno}");
        assert_eq!(error.to_string(), text);
    }
}
