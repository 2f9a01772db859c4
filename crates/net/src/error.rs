//! What can go wrong between here and the peer, in classes that a caller can
//! count and in words that a person can act on.
//!
//! Knows the kernel's error numbers. Must not know who asked.

use rustix::io::Errno;

/// A failed operation on a socket, a poller or a TLS session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    /// Nobody listens at the address.
    #[error("connection refused: nothing listens there")]
    Refused,
    /// The peer sent RST, or bytes went to a side that was closed.
    #[error("connection reset by the peer")]
    Reset,
    /// The kernel gave up waiting for the peer.
    #[error("connection timed out: the peer does not answer")]
    TimedOut,
    /// No route to the network or the host.
    #[error("unreachable: no route to the peer")]
    Unreachable,
    /// The process or the machine has no file descriptor left.
    #[error("out of file descriptors")]
    NoDescriptors,
    /// No local port is free for this source and peer.
    #[error("out of local ports")]
    NoPorts,
    /// The TLS session cannot be set up or was broken; the text is complete.
    #[error("{0}")]
    Tls(Box<str>),
    /// A host name has no address; the text is complete.
    #[error("{0}")]
    Name(Box<str>),
    /// The kernel's TCP may not have a congestion control; the text is complete.
    #[error("{0}")]
    Congestion(Box<str>),
    /// A connection of QUIC ended in a way that has no name above; the text is complete.
    #[error("{text}")]
    Ended {
        /// What happened.
        text: Box<str>,
        /// The class under which it is counted.
        class: NetErrorClass,
    },
    /// Any other refusal of the kernel.
    #[error("{doing}: {errno}")]
    Os {
        /// What was attempted, as "cannot …".
        doing: Box<str>,
        /// The kernel's reason.
        errno: Errno,
    },
}

impl NetError {
    /// The class under which this is counted.
    pub fn class(&self) -> NetErrorClass {
        match self {
            Self::Refused => NetErrorClass::Refused,
            Self::Reset => NetErrorClass::Reset,
            Self::TimedOut => NetErrorClass::TimedOut,
            Self::Unreachable => NetErrorClass::Unreachable,
            Self::NoDescriptors => NetErrorClass::NoDescriptors,
            Self::NoPorts => NetErrorClass::NoPorts,
            Self::Tls(_) => NetErrorClass::Tls,
            Self::Ended { class, .. } => *class,
            Self::Name(_) | Self::Congestion(_) | Self::Os { .. } => NetErrorClass::Other,
        }
    }

    /// The same error number, with what was attempted where the class alone
    /// does not say enough.
    pub(crate) fn doing(what: impl Into<Box<str>>, errno: Errno) -> Self {
        match Self::from(errno) {
            Self::Os { .. } => Self::Os { doing: what.into(), errno },
            known => known,
        }
    }
}

impl From<Errno> for NetError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::CONNREFUSED => Self::Refused,
            Errno::CONNRESET | Errno::CONNABORTED | Errno::PIPE => Self::Reset,
            Errno::TIMEDOUT => Self::TimedOut,
            Errno::NETUNREACH | Errno::HOSTUNREACH | Errno::NETDOWN | Errno::HOSTDOWN => {
                Self::Unreachable
            }
            Errno::MFILE | Errno::NFILE => Self::NoDescriptors,
            Errno::ADDRNOTAVAIL => Self::NoPorts,
            errno => Self::Os { doing: "the kernel refused".into(), errno },
        }
    }
}

/// The classes of [`NetError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NetErrorClass {
    /// Nobody listens.
    Refused,
    /// RST, or a write to a closed side.
    Reset,
    /// The kernel gave up waiting.
    TimedOut,
    /// No route.
    Unreachable,
    /// Descriptors ran out here: a fault of this side.
    NoDescriptors,
    /// Local ports ran out here: a fault of this side.
    NoPorts,
    /// Certificates, alerts, broken records.
    Tls,
    /// Anything else.
    Other,
}
