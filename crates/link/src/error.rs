//! What can keep a link from being carried.

use rustix::io::Errno;

/// Each says what was being done and, where there is one, the remedy.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The namespace's file can't be opened or entered.
    #[error("can't enter the network namespace {file}: {errno}{}", remedy(*errno))]
    Namespace {
        /// The file.
        file: String,
        /// The kernel's reason.
        errno: Errno,
    },
    /// The kernel gives no TUN device.
    #[error("can't make the TUN device {name}: {errno}{}", remedy(*errno))]
    Device {
        /// The device's name.
        name: String,
        /// The kernel's reason.
        errno: Errno,
    },
    /// A device's name that the kernel would not take.
    #[error("{0:?} is no name for a device: use 1 to 15 letters, digits, - or _")]
    Name(String),
    /// An order could not be read, or its answer not be written.
    #[error("the link ended: nobody takes its answers: {0}")]
    Told(#[from] std::io::Error),
    /// Reading from a device or waiting failed.
    #[error("the link ended: {doing}: {errno}")]
    Broken {
        /// What was being done.
        doing: &'static str,
        /// The kernel's reason.
        errno: Errno,
    },
}

fn remedy(errno: Errno) -> &'static str {
    match errno {
        Errno::PERM | Errno::ACCESS => ": run it as root",
        Errno::NOENT | Errno::NODEV | Errno::NXIO => ": the kernel's module `tun` is needed",
        Errno::BUSY => ": choose another name",
        _ => "",
    }
}
