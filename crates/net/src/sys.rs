//! The system calls that rustix has no safe face for, one function each.
//!
//! Knows raw pointers and structure layouts. Must not know why a call is
//! made. Every `unsafe` of the crate is here or in `uring/ring.rs`, and argued in
//! `docs/unsafe.md`.

pub(crate) mod udp;

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;
use std::time::Duration;

use rustix::io::Errno;

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
compile_error!("wiretrial runs on 64-bit Linux");

/// Bytes of the kernel's `struct tcp_info` that are asked for; an older
/// kernel fills fewer.
pub(crate) const TCP_INFO_BYTES: usize = 256;

/// `unshare(CLONE_FILES)`: the calling thread gets a copy of the table of
/// descriptors for itself.
pub(crate) fn unshare_descriptors() -> Result<(), Errno> {
    // SAFETY: a descriptor that another thread opens or closes from here on
    // means nothing here, and the other way round. `Driver::own_descriptors`
    // is the only caller: what crosses threads afterwards is the waker, whose
    // descriptor was there before and is in every table.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::FILES) }
}

/// `epoll_pwait2`: replaces the content of `events`, up to its capacity.
///
/// Called by number, because the C library has a wrapper only since glibc
/// 2.35. Fails with `NOSYS` before Linux 5.11.
pub(crate) fn epoll_pwait2(
    epoll: BorrowedFd<'_>,
    events: &mut Vec<libc::epoll_event>,
    timeout: Option<Duration>,
) -> Result<(), Errno> {
    let timespec = timeout.map(|timeout| libc::timespec {
        tv_sec: libc::c_long::try_from(timeout.as_secs()).unwrap_or(libc::c_long::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    events.clear();
    // SAFETY: the kernel writes at most `capacity` events to memory that the
    // vector owns, and reads the timespec, which outlives the call.
    let count = unsafe {
        libc::syscall(
            libc::SYS_epoll_pwait2,
            epoll.as_raw_fd(),
            events.as_mut_ptr(),
            capacity(events),
            timespec.as_ref().map_or(ptr::null(), ptr::from_ref),
            ptr::null::<libc::sigset_t>(),
            0_usize,
        )
    };
    take_events(events, count)
}

/// `epoll_wait` without a timeout (`block`) or with a timeout of zero.
pub(crate) fn epoll_wait(
    epoll: BorrowedFd<'_>,
    events: &mut Vec<libc::epoll_event>,
    block: bool,
) -> Result<(), Errno> {
    events.clear();
    // SAFETY: the kernel writes at most `capacity` events to memory that the
    // vector owns.
    let count = unsafe {
        libc::epoll_wait(
            epoll.as_raw_fd(),
            events.as_mut_ptr(),
            capacity(events),
            if block { -1 } else { 0 },
        )
    };
    take_events(events, count.into())
}

/// `IP_BIND_ADDRESS_NO_PORT`: a bind to port 0 fixes the address only, and
/// the port is chosen at connect, when the peer is known. So ports of one
/// source can be used again towards another peer.
pub(crate) fn bind_address_no_port(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    udp::set_option(socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)
}

/// `sched_setattr`: the turn that the calling thread asks for where others
/// want the CPU too. Nothing changes for a thread of a policy of its own.
pub(crate) fn set_turn(turn: Duration) -> Result<(), Errno> {
    const SIZE: u32 = size_of::<libc::sched_attr>() as u32;
    let mut attributes = libc::sched_attr {
        size: SIZE,
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the kernel writes at most as many bytes as the structure has, and
    // any integers are a valid value of it.
    let got =
        unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, SIZE, 0_u32) };
    if got != 0 {
        return Err(last_errno());
    }
    if attributes.sched_policy != libc::SCHED_OTHER as u32 {
        return Ok(());
    }
    attributes.sched_runtime = u64::try_from(turn.as_nanos()).unwrap_or(u64::MAX);
    // SAFETY: the kernel reads one whole structure that outlives the call.
    let set = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0_u32) };
    if set == 0 { Ok(()) } else { Err(last_errno()) }
}

/// `TCP_INFO` as bytes; what an older kernel does not fill stays zero.
pub(crate) fn tcp_info(socket: BorrowedFd<'_>) -> Result<[u8; TCP_INFO_BYTES], Errno> {
    let mut info = [0_u8; TCP_INFO_BYTES];
    let mut length = TCP_INFO_BYTES as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes, the size of `info`,
    // and any bytes are a valid value of it.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result == 0 { Ok(info) } else { Err(last_errno()) }
}

/// What the process and its threads have used so far.
pub(crate) fn resource_usage() -> libc::rusage {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole `rusage`. The call cannot fail with
    // RUSAGE_SELF and a good pointer; zeroes stand if it did.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    // SAFETY: all fields are integers, for which the zeroes written above are
    // already valid.
    unsafe { usage.assume_init() }
}

/// A message header that points nowhere. It has more fields in some C libraries.
fn zeroed_header() -> libc::msghdr {
    let header = MaybeUninit::<libc::msghdr>::zeroed();
    // SAFETY: all fields are integers and raw pointers, for which zeroes are valid.
    unsafe { header.assume_init() }
}

fn capacity(events: &Vec<libc::epoll_event>) -> libc::c_int {
    libc::c_int::try_from(events.capacity()).unwrap_or(libc::c_int::MAX)
}

fn take_events(events: &mut Vec<libc::epoll_event>, count: libc::c_long) -> Result<(), Errno> {
    let Ok(count) = usize::try_from(count) else {
        return Err(last_errno());
    };
    // SAFETY: the kernel has written `count` events, no more than the
    // capacity that it was given.
    unsafe { events.set_len(count) };
    Ok(())
}

fn last_errno() -> Errno {
    let error = std::io::Error::last_os_error();
    Errno::from_io_error(&error).unwrap_or(Errno::INVAL)
}
