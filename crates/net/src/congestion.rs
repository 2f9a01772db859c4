//! Which algorithm decides how much may be on its way, and whether the kernel's TCP may have it.
//!
//! Knows names, the option of a socket and what the kernel lists. Must not know connections, nor how QUIC
//! carries an algorithm out.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, socket_with, sockopt};

use crate::NetError;

/// Those that are loaded. Root may have each of them, and has others loaded by asking for them.
const AVAILABLE: &str = "net.ipv4.tcp_available_congestion_control";
/// Those that everybody may have.
const ALLOWED: &str = "net.ipv4.tcp_allowed_congestion_control";

/// Which algorithm decides how much may be on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Congestion {
    /// RFC 9438, in QUIC as in Linux.
    #[default]
    Cubic,
    /// RFC 9002, appendix B; of TCP the kernel's `reno`.
    NewReno,
    /// Version 1, as quinn-proto and the kernel have it.
    Bbr,
}

impl Congestion {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::NewReno => "new_reno",
            Self::Bbr => "bbr",
        }
    }

    /// Its name in the kernel, of TCP.
    pub const fn in_kernel(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::NewReno => "reno",
            Self::Bbr => "bbr",
        }
    }

    /// Whether sockets of TCP may have it, in the network namespace of the calling thread.
    ///
    /// # Errors
    /// The kernel has none of that name, or keeps it for root: one line, with the remedy.
    pub fn check_for_tcp(self) -> Result<(), NetError> {
        let (family, flags) = (AddressFamily::INET, SocketFlags::CLOEXEC);
        let probe = socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))
            .map_err(|errno| NetError::doing("cannot open a socket", errno))?;
        set(probe.as_fd(), self)
    }
}

/// Has a socket of TCP use an algorithm, and those that a listener accepts.
pub(crate) fn set(socket: BorrowedFd<'_>, wanted: Congestion) -> Result<(), NetError> {
    sockopt::set_tcp_congestion(socket, wanted.in_kernel())
        .map_err(|errno| refused(wanted, errno, listed))
}

/// Which one a socket of TCP has, by the kernel's name.
pub(crate) fn of(socket: BorrowedFd<'_>) -> Result<String, NetError> {
    Ok(sockopt::tcp_congestion(socket)?)
}

/// Why the kernel does not let a socket have it, and what to do.
fn refused(wanted: Congestion, errno: Errno, listed: impl Fn(&str) -> String) -> NetError {
    let name = wanted.in_kernel();
    let text = match errno {
        Errno::NOENT => format!(
            "the kernel has no {name} for TCP ({AVAILABLE}: {}); load it as root (modprobe tcp_{name}), or leave --congestion out",
            listed(AVAILABLE)
        ),
        Errno::PERM => {
            let allowed = listed(ALLOWED);
            format!(
                "the kernel keeps {name} of TCP for root ({ALLOWED}: {allowed}); run as root, or allow it: sysctl -w {ALLOWED}=\"{allowed} {name}\""
            )
        }
        errno => {
            return NetError::doing(format!("cannot have {name} as congestion control"), errno);
        }
    };
    NetError::Congestion(text.into())
}

/// What the kernel lists under a setting.
fn listed(setting: &str) -> String {
    let file = format!("/proc/sys/{}", setting.replace('.', "/"));
    fs::read_to_string(file).map_or_else(|_| "not told".to_owned(), |text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NetErrorClass;

    #[test]
    fn what_the_kernel_refuses_is_one_line_with_the_remedy() {
        let lists = |setting: &str| {
            let names = if setting == ALLOWED { "reno" } else { "reno cubic" };
            names.to_owned()
        };
        let missing = refused(Congestion::Bbr, Errno::NOENT, lists);
        assert_eq!(
            missing.to_string(),
            "the kernel has no bbr for TCP (net.ipv4.tcp_available_congestion_control: reno cubic); load it as root (modprobe tcp_bbr), or leave --congestion out"
        );
        let kept = refused(Congestion::Cubic, Errno::PERM, lists);
        assert_eq!(
            kept.to_string(),
            "the kernel keeps cubic of TCP for root (net.ipv4.tcp_allowed_congestion_control: reno); run as root, or allow it: sysctl -w net.ipv4.tcp_allowed_congestion_control=\"reno cubic\""
        );
        let other = refused(Congestion::NewReno, Errno::BUSY, lists);
        let text = other.to_string();
        assert!(text.starts_with("cannot have reno as congestion control: "), "{text}");
        for error in [missing, kept, other] {
            assert_eq!(error.class(), NetErrorClass::Other);
        }
    }

    #[test]
    fn a_setting_that_is_not_there_is_not_told() {
        assert_eq!(listed("net.ipv4.tcp_no_such_setting"), "not told");
        // The kernel has this one in any case.
        assert!(listed(AVAILABLE).split(' ').any(|name| name == "reno"));
    }
}
