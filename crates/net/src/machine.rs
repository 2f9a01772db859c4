//! What this machine allows the process and what the process has used.
//!
//! Knows limits, threads and names of hosts. Must not know sockets.

use std::fs;
use std::net::{SocketAddr, ToSocketAddrs};
use std::num::NonZeroU64;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity, set_current_timer_slack};

use crate::NetError;
use crate::sys;

/// How many file descriptors the process may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DescriptorLimit {
    /// In force now.
    pub soft: u64,
    /// How far the process itself may raise it.
    pub hard: u64,
}

/// Lets the calling thread run on these CPUs only. Nothing changes when the
/// list is empty.
///
/// # Errors
/// When a CPU does not exist or is not allowed to this process.
pub fn pin_current_thread(cpus: &[u32]) -> Result<(), NetError> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for &cpu in cpus {
        let cpu = cpu as usize;
        if cpu >= CpuSet::MAX_CPU {
            return Err(cannot_pin(cpus, rustix::io::Errno::INVAL));
        }
        set.set(cpu);
    }
    sched_setaffinity(None, &set).map_err(|errno| cannot_pin(cpus, errno))
}

/// Asks the kernel not to bundle this thread's timers: by default a sleep may
/// end 50 microseconds late.
pub fn set_timer_slack_min() {
    // A kernel that refuses leaves the default; the lag is measured anyway.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

/// Asks the scheduler for short turns: whoever wakes and asks for a shorter one
/// than who runs needs not wait for the end of that one (since Linux 6.12).
pub fn set_turns_min() {
    // Half a millisecond: no more switches than that where all CPUs are wanted.
    // A kernel that refuses leaves the default; the lag is measured anyway.
    let _ = sys::set_turn(Duration::from_micros(500));
}

/// The limit on file descriptors.
pub fn descriptor_limit() -> DescriptorLimit {
    let limit = getrlimit(Resource::Nofile);
    DescriptorLimit {
        soft: limit.current.unwrap_or(u64::MAX),
        hard: limit.maximum.unwrap_or(u64::MAX),
    }
}

/// Raises the soft limit on file descriptors to the hard one and returns what
/// is in force afterwards.
pub fn raise_descriptor_limit() -> DescriptorLimit {
    let limit = getrlimit(Resource::Nofile);
    // A refusal leaves the old limit, which is what the caller gets to see.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    descriptor_limit()
}

/// How many local ports the kernel may choose from for one source and peer.
/// None where it does not tell.
pub fn local_ports() -> Option<u64> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut bounds = text.split_ascii_whitespace().map_while(|bound| bound.parse::<u64>().ok());
    let (lowest, highest) = (bounds.next()?, bounds.next()?);
    Some((highest + 1).saturating_sub(lowest))
}

/// How many more files this machine can have open, over all processes
/// (`fs.file-max`). None where it does not tell, and where the limit does not
/// bind this process: the kernel exempts who administers the machine.
pub fn file_headroom() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let users = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    if administers(&status, &users) {
        return None;
    }
    let text = fs::read_to_string("/proc/sys/fs/file-nr").ok()?;
    let mut numbers = text.split_ascii_whitespace().map_while(|number| number.parse::<u64>().ok());
    let (allocated, unused, most) = (numbers.next()?, numbers.next()?, numbers.next()?);
    Some(most.saturating_sub(allocated.saturating_sub(unused)))
}

/// CPU time of the whole process so far, in nanoseconds: in user mode and in
/// the kernel.
pub fn process_cpu() -> (u64, u64) {
    let usage = sys::resource_usage();
    (nanoseconds(usage.ru_utime), nanoseconds(usage.ru_stime))
}

/// The most memory that the process has held in RAM, in bytes.
pub fn peak_rss_bytes() -> u64 {
    // `getrusage` starts from the peak of the process that started this one, so
    // it is only the answer where /proc is not there.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|rest| rest.split_ascii_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or_else(|| sys::resource_usage().ru_maxrss as u64) * 1024
}

/// CPU time of the calling thread so far, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Nanoseconds that the calling thread was ready to run but had no CPU. None
/// where the kernel does not tell.
pub fn thread_run_queue_ns() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// The addresses of a host, which may be a literal address.
///
/// # Errors
/// When the name has no address.
pub fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, NetError> {
    let literal = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let unknown = |reason: &str| {
        NetError::Name(format!("cannot find the address of host '{host}': {reason}").into())
    };
    let found: Vec<SocketAddr> =
        (literal, port).to_socket_addrs().map_err(|error| unknown(&error.to_string()))?.collect();
    if found.is_empty() {
        return Err(unknown("the name exists but has no address"));
    }
    Ok(found)
}

/// `CAP_SYS_ADMIN` is effective, in the namespace of users that all others are
/// in: no other counts for the machine's own limits.
fn administers(status: &str, users: &str) -> bool {
    const CAP_SYS_ADMIN: u64 = 1 << 21;
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    let all_users = users.split_ascii_whitespace().eq(["0", "0", "4294967295"]);
    all_users && effective.is_some_and(|effective| effective & CAP_SYS_ADMIN != 0)
}

fn cannot_pin(cpus: &[u32], errno: rustix::io::Errno) -> NetError {
    NetError::Os {
        doing: format!("cannot run on CPUs {cpus:?} (`nproc` and /proc/self/status tell which)")
            .into(),
        errno,
    }
}

fn nanoseconds(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000
}

#[cfg(test)]
mod tests {
    use super::administers;

    #[test]
    fn table_of_who_is_exempt_from_the_limit_of_open_files() {
        let everybody = "         0          0 4294967295\n";
        for (capabilities, users, expected) in [
            ("000001ffffffffff", everybody, true),
            ("0000000000200000", everybody, true),
            ("000001ffffdfffff", everybody, false),
            ("0000000000000000", everybody, false),
            ("000001ffffffffff", "         0       1000          1\n", false),
            ("000001ffffffffff", "", false),
            ("?", everybody, false),
        ] {
            let status =
                format!("Name:\tengine\nCapPrm:\t000001ffffffffff\nCapEff:\t{capabilities}\n");
            assert_eq!(administers(&status, users), expected, "{capabilities} {users}");
        }
    }
}
