//! The loop that carries packets between two devices until it is told to end.
//!
//! Knows time, devices and descriptors; what becomes of a packet it asks [`Path`].

use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::thread::set_current_timer_slack;

use crate::clock::{monotonic_ns, thread_cpu_ns};
use crate::counters::{Carried, Counters};
use crate::device::LARGEST_PACKET;
use crate::{Device, Fate, Line, LinkError, Nat, Path, Shape, sys};

/// Packets taken from one device before the other has its turn.
const BATCH: usize = 64;
/// Memory for packets on their way in one direction; what comes beyond counts as `queue_full`.
const MOST_BYTES_ON_THE_WAY: usize = 256 << 20;

/// The two devices: `up` is from near to far.
#[derive(Debug)]
pub struct Ends {
    /// The client's side.
    pub near: Device,
    /// The server's side.
    pub far: Device,
}

/// What the link is asked to be.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// From near to far. Its `rebind_ns` is of both directions: the near end is behind the router.
    pub up: Shape,
    /// From far to near.
    pub down: Shape,
    /// Seed of all random choices.
    pub seed: u64,
    /// Poll without sleeping when a packet is due within so many nanoseconds.
    pub spin_ns: u64,
    /// Run before ordinary threads, where the kernel lets us.
    pub realtime: bool,
}

/// What the loop is told from outside, and what it tells.
pub trait Orders {
    /// Readable when there is something for [`Orders::obey`].
    fn descriptors(&self) -> [BorrowedFd<'_>; 2];

    /// The link stands; `realtime` says whether it runs before ordinary threads.
    ///
    /// # Errors
    /// When it can't be told.
    fn started(&mut self, realtime: bool) -> Result<(), LinkError>;

    /// Called when the descriptor at `index` is readable. True: go on.
    ///
    /// # Errors
    /// When the order can't be read, or the answer not be written.
    fn obey(&mut self, index: usize, account: &Account) -> Result<bool, LinkError>;
}

/// What has been carried so far.
#[derive(Debug, Clone, Copy, Default, serde::Serialize)]
pub struct Account {
    /// From near to far.
    pub up: Direction,
    /// From far to near.
    pub down: Direction,
    /// How often ports of UDP that had been used became others.
    pub rebound: u64,
    /// Nanoseconds of CPU that carrying took.
    pub cpu_ns: u64,
}

/// One direction's part of an [`Account`].
#[derive(Debug, Clone, Copy, Default, serde::Serialize)]
pub struct Direction {
    /// What was decided.
    #[serde(flatten)]
    pub decided: Counters,
    /// What was done.
    #[serde(flatten)]
    pub done: Carried,
    /// Packets that had not arrived yet.
    pub on_the_way: u64,
}

/// Carries packets on this thread until `orders` end it. Returns what was carried.
///
/// # Errors
/// When a device, the wait or `orders` fail.
pub fn carry(
    ends: &Ends,
    settings: &Settings,
    orders: &mut impl Orders,
) -> Result<Account, LinkError> {
    // A kernel that refuses leaves its defaults; lateness is counted anyway.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    let realtime = settings.realtime && sys::run_first().is_ok();
    orders.started(realtime)?;
    let mut wires = [
        Wire::new(&ends.near, &ends.far, settings.up, settings.seed),
        // Another seed: the directions must not lose the same packets.
        Wire::new(&ends.far, &ends.near, settings.down, !settings.seed),
    ];
    let mut nat = settings.up.rebind_ns.map(|every_ns| Nat::new(every_ns, settings.seed));
    let mut buffer = vec![0; LARGEST_PACKET];
    loop {
        let [up, down] = &mut wires;
        let mut full_batch = up.take_in(&mut buffer, |now_ns, packet| {
            if let Some(nat) = &mut nat {
                nat.outward(now_ns, packet);
            }
        })?;
        // What is due goes out between the batches, so that a burst of one direction does not make
        // the other's packets late.
        hand_on(up, down, &mut nat);
        full_batch |= down.take_in(&mut buffer, |_, _| ())?;
        hand_on(up, down, &mut nat);
        let timeout_ns = if full_batch { Some(0) } else { wait_ns(&wires, settings.spin_ns) };
        let ready = wait(ends, orders, timeout_ns)?;
        for (index, _) in ready.into_iter().enumerate().filter(|(_, ready)| *ready) {
            let account = account(&wires, nat.as_ref());
            if !orders.obey(index, &account)? {
                return Ok(account);
            }
        }
    }
}

/// Hands on what is due of both directions; the router stands at the near end.
fn hand_on(up: &mut Wire<'_>, down: &mut Wire<'_>, nat: &mut Option<Nat>) {
    up.hand_on(|_, _| true);
    down.hand_on(|now_ns, packet| nat.as_mut().is_none_or(|nat| nat.inward(now_ns, packet)));
}

/// One direction: from a device, along a path, into a device.
struct Wire<'a> {
    from: &'a Device,
    to: &'a Device,
    path: Path,
    line: Line<Packet>,
    on_the_way_bytes: usize,
    overflowed: u64,
    done: Carried,
}

struct Packet {
    bytes: Box<[u8]>,
    twice: bool,
}

impl<'a> Wire<'a> {
    fn new(from: &'a Device, to: &'a Device, shape: Shape, seed: u64) -> Self {
        Self {
            from,
            to,
            path: Path::new(shape, seed),
            line: Line::new(),
            on_the_way_bytes: 0,
            overflowed: 0,
            done: Carried::default(),
        }
    }

    /// Takes what has come, up to a batch, as `passed` leaves it. Whether there may be more.
    fn take_in(
        &mut self,
        buffer: &mut [u8],
        mut passed: impl FnMut(u64, &mut [u8]),
    ) -> Result<bool, LinkError> {
        for _ in 0..BATCH {
            let read = self.from.read(buffer);
            let read = read.map_err(|errno| broken("reading from a device", errno))?;
            let Some(bytes) = read else {
                return Ok(false);
            };
            // Read after the packet is there, so that it is never early.
            let now_ns = monotonic_ns();
            passed(now_ns, &mut buffer[..bytes]);
            if let Fate::Arrives { at_ns, twice } = self.path.admit(now_ns, bytes) {
                self.put(at_ns, Packet { bytes: buffer[..bytes].into(), twice });
            }
        }
        Ok(true)
    }

    fn put(&mut self, at_ns: u64, packet: Packet) {
        if self.on_the_way_bytes + packet.bytes.len() > MOST_BYTES_ON_THE_WAY {
            self.overflowed += 1 + u64::from(packet.twice);
            return;
        }
        self.on_the_way_bytes += packet.bytes.len();
        self.line.push(at_ns, packet);
    }

    /// Hands on everything that is due and that `is_let_in` takes.
    fn hand_on(&mut self, mut is_let_in: impl FnMut(u64, &mut [u8]) -> bool) {
        let mut now_ns = monotonic_ns();
        while let Some((due_ns, mut packet)) = self.line.due(now_ns) {
            self.on_the_way_bytes -= packet.bytes.len();
            let copies = 1 + u64::from(packet.twice);
            if !is_let_in(now_ns, &mut packet.bytes) {
                self.done.unmapped += copies;
                continue;
            }
            for _ in 0..copies {
                if self.to.write(&packet.bytes) {
                    self.done.record(due_ns, now_ns, packet.bytes.len());
                } else {
                    self.done.refused += 1;
                }
            }
            now_ns = monotonic_ns();
        }
    }

    fn account(&self) -> Direction {
        let mut decided = self.path.counters();
        decided.queue_full += self.overflowed;
        Direction { decided, done: self.done, on_the_way: self.on_the_way() }
    }

    fn on_the_way(&self) -> u64 {
        let counters = self.path.counters();
        let ended = counters.lost
            + counters.blackholed
            + counters.queue_full
            + counters.too_big
            + self.overflowed
            + self.done.carried
            + self.done.refused
            + self.done.unmapped;
        (counters.offered + counters.duplicated).saturating_sub(ended)
    }
}

fn account(wires: &[Wire<'_>; 2], nat: Option<&Nat>) -> Account {
    Account {
        up: wires[0].account(),
        down: wires[1].account(),
        rebound: nat.map_or(0, Nat::rebound),
        cpu_ns: thread_cpu_ns(),
    }
}

/// How long there is nothing to do but for what comes; None: for ever.
fn wait_ns(wires: &[Wire<'_>], spin_ns: u64) -> Option<u64> {
    let next_ns = wires.iter().filter_map(|wire| wire.line.next_ns()).min()?;
    let left_ns = next_ns.saturating_sub(monotonic_ns());
    Some(left_ns.saturating_sub(spin_ns))
}

/// Waits for packets and orders. Which orders there are.
fn wait(
    ends: &Ends,
    orders: &impl Orders,
    timeout_ns: Option<u64>,
) -> Result<[bool; 2], LinkError> {
    let timeout = timeout_ns.and_then(|ns| Timespec::try_from(Duration::from_nanos(ns)).ok());
    let [first, second] = orders.descriptors();
    let mut watched = [
        PollFd::from_borrowed_fd(first, PollFlags::IN),
        PollFd::from_borrowed_fd(second, PollFlags::IN),
        PollFd::from_borrowed_fd(ends.near.as_fd(), PollFlags::IN),
        PollFd::from_borrowed_fd(ends.far.as_fd(), PollFlags::IN),
    ];
    match poll(&mut watched, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {
            Ok([!watched[0].revents().is_empty(), !watched[1].revents().is_empty()])
        }
        Err(errno) => Err(broken("waiting for packets", errno)),
    }
}

fn broken(doing: &'static str, errno: Errno) -> LinkError {
    LinkError::Broken { doing, errno }
}
