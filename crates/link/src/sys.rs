//! The system calls that rustix has no safe face for, one function each.
//!
//! Knows raw pointers and structure layouts. Must not know why a call is made. Every `unsafe` of
//! the crate is in this file and argued in `docs/unsafe.md`.

use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use rustix::io::Errno;

/// Bytes of a device's name, the zero at its end included.
pub(crate) const NAME_BYTES: usize = libc::IFNAMSIZ;

/// `TUNSETIFF`: makes the TUN device `name` in the network namespace where `tun` was opened, and
/// attaches it to that descriptor. Packets come bare: no header of the driver before them.
pub(crate) fn tun_set_interface(tun: BorrowedFd<'_>, name: &[u8; NAME_BYTES]) -> Result<(), Errno> {
    let mut request = libc::ifreq {
        ifr_name: name.map(|byte| libc::c_char::from_ne_bytes([byte])),
        ifr_ifru: libc::__c_anonymous_ifr_ifru {
            ifru_flags: (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_TUN_EXCL) as libc::c_short,
        },
    };
    // SAFETY: the kernel reads and writes one `ifreq`, which is what is passed and outlives the
    // call.
    let result = unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) };
    if result == 0 { Ok(()) } else { Err(last_errno()) }
}

/// `sched_setscheduler`: the calling thread runs before every ordinary one, at the lowest of the
/// real-time priorities.
pub(crate) fn run_first() -> Result<(), Errno> {
    // The kernel's `sched_param` is one int. Not by the C library: musl's function always fails
    // with ENOSYS, and its structure has fields that the kernel does not know.
    let priority: libc::c_int = 1;
    // SAFETY: the kernel reads one int, which outlives the call; 0 is this thread.
    let result = unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            0,
            libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK,
            ptr::from_ref(&priority),
        )
    };
    if result == 0 { Ok(()) } else { Err(last_errno()) }
}

fn last_errno() -> Errno {
    let error = std::io::Error::last_os_error();
    Errno::from_io_error(&error).unwrap_or(Errno::INVAL)
}
