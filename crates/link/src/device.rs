//! One end of the link: a TUN device in a network namespace.
//!
//! The device goes when its descriptor is closed, so it can't outlive the process.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::LinkError;
use crate::sys::{self, NAME_BYTES};

/// The largest packet of IP.
pub(crate) const LARGEST_PACKET: usize = 65_535;

/// Where a device is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Namespace {
    /// The caller's network namespace.
    Own,
    /// The one that this file names, such as `/proc/PID/ns/net`.
    File(PathBuf),
}

/// A TUN device that carries bare IP packets, whole and with their checksums made: no offload is
/// asked for, so the kernel splits and sums before it hands a packet out, and verifies what comes
/// in.
#[derive(Debug)]
pub struct Device {
    name: String,
    tun: OwnedFd,
}

impl Device {
    /// Makes the device `name`. It is down and has no address; both are for who runs the
    /// namespace. It gets no IPv6, whose own chatter would take part in every random choice.
    ///
    /// # Errors
    /// A name that is no name, a namespace that can't be entered, a device that the kernel refuses.
    pub fn open(name: &str, namespace: &Namespace) -> Result<Self, LinkError> {
        let bytes = name_bytes(name)?;
        // A thread of its own, since it stays in the namespace that it enters.
        thread::scope(|scope| {
            let made = scope.spawn(|| {
                enter(namespace)?;
                let tun = make(&bytes)
                    .map_err(|errno| LinkError::Device { name: name.to_owned(), errno })?;
                // A kernel without IPv6 has no such file.
                let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1");
                Ok(Self { name: name.to_owned(), tun })
            });
            made.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes a packet that wants to leave through the device; None: there is none now.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> Result<Option<usize>, Errno> {
        match rustix::io::read(&self.tun, buffer) {
            Ok(bytes) => Ok(Some(bytes)),
            // `IO`: the device is down, so there is nothing to take.
            Err(Errno::AGAIN | Errno::INTR | Errno::IO) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Hands a packet to the namespace. False where it is not taken.
    pub(crate) fn write(&self, packet: &[u8]) -> bool {
        rustix::io::write(&self.tun, packet).is_ok()
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}

fn name_bytes(name: &str) -> Result<[u8; NAME_BYTES], LinkError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if name.is_empty() || name.len() >= NAME_BYTES || !name.bytes().all(plain) {
        return Err(LinkError::Name(name.to_owned()));
    }
    let mut bytes = [0; NAME_BYTES];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    Ok(bytes)
}

fn enter(namespace: &Namespace) -> Result<(), LinkError> {
    let Namespace::File(file) = namespace else {
        return Ok(());
    };
    enter_file(file)
        .map_err(|errno| LinkError::Namespace { file: file.display().to_string(), errno })
}

fn enter_file(file: &Path) -> Result<(), Errno> {
    let opened = rustix::fs::open(file, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    move_into_link_name_space(opened.as_fd(), Some(LinkNameSpaceType::Network))
}

fn make(name: &[u8; NAME_BYTES]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let tun = rustix::fs::open("/dev/net/tun", flags, Mode::empty())?;
    sys::tun_set_interface(tun.as_fd(), name)?;
    Ok(tun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_the_kernel_would_not_take_are_refused_here() {
        for name in ["", "sixteen-letters-", "a/b", "a b", "dots.", "%d"] {
            assert!(
                matches!(Device::open(name, &Namespace::Own), Err(LinkError::Name(_))),
                "{name}"
            );
        }
    }

    #[test]
    fn a_namespace_that_is_not_there_is_named() {
        let nowhere = Namespace::File("/nowhere/net".into());
        let error = Device::open("near0", &nowhere).expect_err("there is none");
        assert!(error.to_string().starts_with("can't enter the network namespace /nowhere/net"));
    }
}
