//! How a connection ends, and why, for people.
//!
//! Knows what it was doing. Must not know what follows from its end.

use wiretrial_net::quic::Fault;
use wiretrial_net::{NetError, NetErrorClass};
use wiretrial_proto::ClientSession as _;
use wiretrial_proto::http3::ErrorCode;

use super::{Connection, Link, State};
use crate::measure::Class;

/// What is said of a server that takes its leave before it has begun with what it was asked first.
pub(crate) const UNSEEN: &str = "the server refused the request before it looked at it";

/// What a connection was when it ended.
#[derive(Debug)]
pub(crate) struct Finished {
    /// None: the kernel refused the socket.
    pub(crate) link: Option<Link>,
    /// Requests could be sent.
    pub(crate) was_ready: bool,
    /// Requests were sent.
    pub(crate) served: bool,
}

/// Why a connection ends.
#[derive(Debug)]
pub(crate) enum Ending {
    /// As the plan or the peer had announced; what is in flight goes on on the next connection.
    Orderly(&'static str),
    /// What is in flight has failed.
    Failed(Class, String),
    /// The peer took its leave between two messages, and may do so with all its connections at once.
    Farewell(String),
}

impl Ending {
    /// The same of a connection that nothing was asked on, for people, whether it stood or not; none where that is as
    /// planned.
    pub(crate) fn before_any_request(&self, stood: bool) -> Option<(Class, String)> {
        match self {
            Self::Failed(class, text) => Some((*class, text.clone())),
            Self::Farewell(text) => Some((Class::Closed, text.clone())),
            Self::Orderly("server") if !stood => Some((Class::Closed, UNSEEN.to_owned())),
            Self::Orderly("server") => {
                let text = "the server closed the connection before it was asked anything";
                Some((Class::Closed, text.to_owned()))
            }
            Self::Orderly(_) => None,
        }
    }
}

impl Connection {
    /// Has the server taken its leave, and is no reply awaited any more that it still gives? The connection is to end
    /// then.
    pub(crate) fn was_left(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.session.has_left())
    }

    /// What a connection waited for that did not come to stand in time.
    pub(crate) fn ungreeted(&self) -> String {
        let left = self.greetings;
        format!("the connection did not stand in time: {left} of the greetings did not come")
    }

    /// Why a broken connection ends, with what it was doing.
    pub(crate) fn broken(&self, error: &NetError) -> Ending {
        let doing = if error.class() == NetErrorClass::Tls { "" } else { self.doing() };
        Ending::Failed(Class::from(error.class()), format!("{error}{doing}"))
    }

    /// Why a connection of QUIC is over.
    pub(super) fn over(&self, fault: Fault) -> Ending {
        let is_idle = self.state == State::Ready && self.ledger.is_empty();
        match fault {
            // QUIC has no FIN: the server said that it is done, or let it lie for as long as it keeps one.
            Fault::Closed { code, .. } if is_idle && code == ErrorCode::NoError as u64 => {
                Ending::Orderly("server")
            }
            Fault::TimedOut if is_idle => Ending::Orderly("server"),
            Fault::Closed { .. } => {
                Ending::Failed(Class::Closed, format!("{fault}{}", self.doing()))
            }
            fault => self.broken(&NetError::from(fault)),
        }
    }

    /// What it was doing, behind what has happened.
    fn doing(&self) -> &'static str {
        match self.state {
            State::Securing => ", in the TLS handshake",
            State::Opening => ", in the upgrade",
            State::Ready if self.ledger.is_empty() => ", between messages",
            State::Ready if self.has_begun() => ", inside a reply",
            State::Ready => ", while a reply was awaited",
            State::Idle | State::Backoff | State::Connecting => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Nanos;

    #[test]
    fn a_connection_of_quic_that_awaits_nothing_ends_in_order() {
        let mut connection = Connection::new(true);
        let closed = |code, reason: &str| Fault::Closed { code, reason: reason.into() };
        let ends = |connection: &Connection, fault| match connection.over(fault) {
            Ending::Orderly(why) => (None, why.to_owned()),
            Ending::Failed(class, text) => (Some(class), text),
            Ending::Farewell(text) => panic!("{text}"),
        };
        let server = || (None, "server".to_owned());
        let failed = |class, text: &str| (Some(class), text.to_owned());
        let text = "closed by the peer with code 0x100";
        assert_eq!(ends(&connection, closed(0x100, "")), failed(Class::Closed, text));
        connection.state = State::Ready;
        assert_eq!(ends(&connection, closed(0x100, "")), server());
        assert_eq!(ends(&connection, Fault::TimedOut), server());
        let text = "closed by the peer with code 0x102: oops, between messages";
        assert_eq!(ends(&connection, closed(0x102, "oops")), failed(Class::Closed, text));
        connection.ledger.push_sent(0, 1, Nanos(1), Nanos(1));
        let text = "closed by the peer with code 0x100, while a reply was awaited";
        assert_eq!(ends(&connection, closed(0x100, "")), failed(Class::Closed, text));
        let text =
            "connection timed out: the peer does not answer, while a reply was awaited".to_owned();
        let (class, said) = ends(&connection, Fault::TimedOut);
        assert_eq!(said, text);
        assert_eq!(class, Some(Class::from(NetErrorClass::TimedOut)));
    }
}
