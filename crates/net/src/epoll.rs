//! Level-triggered epoll: the poller that works everywhere.
//!
//! Knows readiness and when to ask for it. Must not know buffers beyond the
//! one it is handed, nor who waits.

use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::socket::State;
use crate::transfer::{Buffer, Received};
use crate::{ConnectSpec, Flush, Key, Listener, NetError, Ready, Socket, Waker, sys};

/// Events taken per wait; more come with the next one.
const BATCH: usize = 1024;

/// Set in an event's slot while a connect is pending, so that readiness of a
/// socket that the driver does not hold still says which kind it is.
const CONNECTING: u32 = 0x8000_0000;

const WAKER_SLOT: u32 = 0x7fff_ffff;
const TIMER_SLOT: u32 = 0x7fff_fffe;

/// An epoll set with its waker.
pub(crate) struct Epoll {
    set: OwnedFd,
    events: Vec<libc::epoll_event>,
    next: usize,
    waker: Arc<OwnedFd>,
    timeout_by: TimeoutBy,
}

/// How a timeout reaches the kernel.
#[derive(Debug)]
enum TimeoutBy {
    /// As an argument of `epoll_pwait2`.
    Argument,
    /// As a timer in the set, where the kernel has no `epoll_pwait2`.
    Timer { timer: OwnedFd, armed: bool },
}

impl std::fmt::Debug for Epoll {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Epoll")
            .field("set", &self.set)
            .field("events", &self.events.len())
            .field("timeout_by", &self.timeout_by)
            .finish_non_exhaustive()
    }
}

impl Epoll {
    pub(crate) fn new() -> Result<Self, NetError> {
        let failed = |errno| NetError::doing("cannot open an epoll set", errno);
        let set = epoll::create(CreateFlags::CLOEXEC).map_err(failed)?;
        let waker = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(failed)?;
        epoll::add(&set, &waker, own_slot(WAKER_SLOT), EventFlags::IN).map_err(failed)?;
        Ok(Self {
            set,
            events: Vec::with_capacity(BATCH),
            next: 0,
            waker: Arc::new(waker),
            timeout_by: TimeoutBy::Argument,
        })
    }

    pub(crate) fn waker(&self) -> Waker {
        Waker::new(Arc::clone(&self.waker))
    }

    pub(crate) fn connect(&mut self, key: Key, spec: &ConnectSpec) -> Result<Socket, NetError> {
        let mut socket = Socket::connect(key, spec)?;
        self.update(&mut socket)?;
        Ok(socket)
    }

    pub(crate) fn connect_result(&mut self, socket: &mut Socket) -> Result<(), NetError> {
        socket.take_error()?;
        socket.state = State::Connected;
        self.update(socket)
    }

    pub(crate) fn listen(
        &mut self,
        key: Key,
        address: SocketAddr,
        reuse_port: bool,
    ) -> Result<Listener, NetError> {
        let listener = Listener::open(key, address, reuse_port)?;
        epoll::add(&self.set, &listener.fd, data(key, State::Connected), EventFlags::IN)?;
        Ok(listener)
    }

    pub(crate) fn accept(
        &mut self,
        listener: &Listener,
        key: Key,
    ) -> Result<Option<(Socket, SocketAddr)>, NetError> {
        let Some((fd, peer)) = listener.accept()? else { return Ok(None) };
        let mut socket = Socket::new(fd, key, State::Connected);
        self.update(&mut socket)?;
        Ok(Some((socket, peer)))
    }

    pub(crate) fn set_accepting(
        &mut self,
        listener: &Listener,
        accepting: bool,
    ) -> Result<(), NetError> {
        let flags = if accepting { EventFlags::IN } else { EventFlags::empty() };
        epoll::modify(&self.set, &listener.fd, data(listener.key, State::Connected), flags)?;
        Ok(())
    }

    pub(crate) fn wait(&mut self, timeout: Option<Duration>) -> Result<(), NetError> {
        self.next = 0;
        if matches!(self.timeout_by, TimeoutBy::Argument) {
            match sys::epoll_pwait2(self.set.as_fd(), &mut self.events, timeout) {
                // Some sandboxes answer a call that they do not know with
                // PERM.
                Err(Errno::NOSYS | Errno::PERM) => self.timeout_by = self.open_timer()?,
                other => return waited(other),
            }
        }
        self.arm_timer(timeout)?;
        let block = timeout != Some(Duration::ZERO);
        waited(sys::epoll_wait(self.set.as_fd(), &mut self.events, block))
    }

    pub(crate) fn has_events(&self) -> bool {
        self.next < self.events.len()
    }

    pub(crate) fn next(&mut self) -> Option<Ready> {
        while let Some(event) = self.events.get(self.next) {
            self.next += 1;
            let slot = (event.u64 >> 32) as u32;
            let flags = EventFlags::from_bits_retain(event.events);
            match slot {
                WAKER_SLOT => {
                    // Empty only when another look has already taken it.
                    let _ = rustix::io::read(&*self.waker, &mut [0_u8; 8]);
                }
                TIMER_SLOT => {}
                slot => return Some(ready(slot, event.u64 as u32, flags)),
            }
        }
        None
    }

    pub(crate) fn receive(socket: &mut Socket, buffer: &mut [u8]) -> Received {
        let offered = buffer.len();
        match rustix::net::recv(&socket.fd, buffer, RecvFlags::empty()) {
            Ok((_, 0)) => {
                socket.ended = true;
                Received::End
            }
            Ok((_, count)) => {
                socket.bytes_received += count as u64;
                Received::Bytes { buffer: Buffer::Shared, count, drained: count < offered }
            }
            Err(Errno::AGAIN | Errno::INTR) => Received::WouldBlock,
            Err(errno) => Received::Failed(NetError::doing("cannot receive", errno)),
        }
    }

    pub(crate) fn flush(&mut self, socket: &mut Socket) -> Result<Flush, NetError> {
        let mut bytes = 0;
        if socket.pending() > 0 {
            bytes = socket.send(&socket.out[socket.taken..])?;
            socket.advance(bytes);
        }
        let done = socket.pending() == 0;
        if done && socket.finishing {
            socket.finishing = false;
            socket.finish();
        }
        self.update(socket)?;
        Ok(Flush { bytes, done })
    }

    pub(crate) fn shutdown_write(socket: &mut Socket) {
        if socket.pending() == 0 {
            socket.finish();
        } else {
            socket.finishing = true;
        }
    }

    pub(crate) fn set_reading(&mut self, socket: &mut Socket, reading: bool) {
        socket.reading = reading;
        // It fails only for a descriptor that is not in the set, and this one
        // is until it is closed.
        let _ = self.update(socket);
    }

    /// Watches a socket for these events, and a hangup; none: for nothing.
    pub(crate) fn watch(
        &self,
        socket: &mut Socket,
        wanted: Option<EventFlags>,
    ) -> Result<(), NetError> {
        let wanted = wanted.map(|flags| (flags, registration(socket.state, flags)));
        let code = wanted.map_or(0, |(_, code)| code);
        if code == socket.registered {
            return Ok(());
        }
        let data = data(socket.key, socket.state);
        match wanted {
            None => epoll::delete(&self.set, &socket.fd),
            Some((flags, _)) if socket.registered == 0 => {
                epoll::add(&self.set, &socket.fd, data, flags)
            }
            Some((flags, _)) => epoll::modify(&self.set, &socket.fd, data, flags),
        }
        .map_err(|errno| NetError::doing("cannot watch a socket", errno))?;
        socket.registered = code;
        Ok(())
    }

    /// Watches a socket of somebody else's for what it can do. One that is closed is not watched any more.
    pub(crate) fn watch_other(
        &self,
        key: Key,
        socket: BorrowedFd<'_>,
        writable: bool,
    ) -> Result<(), NetError> {
        let data = data(key, State::Connected);
        let mut flags = EventFlags::IN;
        flags.set(EventFlags::OUT, writable);
        match epoll::modify(&self.set, socket, data, flags) {
            Err(Errno::NOENT) => epoll::add(&self.set, socket, data, flags),
            other => other,
        }
        .map_err(|errno| NetError::doing("cannot watch a socket", errno))
    }

    /// Readable when there is something to tell.
    pub(crate) fn as_raw_fd(&self) -> RawFd {
        self.set.as_raw_fd()
    }

    fn update(&mut self, socket: &mut Socket) -> Result<(), NetError> {
        self.watch(socket, Some(interest(socket)))
    }

    fn open_timer(&self) -> Result<TimeoutBy, NetError> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        epoll::add(&self.set, &timer, own_slot(TIMER_SLOT), EventFlags::IN)?;
        Ok(TimeoutBy::Timer { timer, armed: false })
    }

    fn arm_timer(&mut self, timeout: Option<Duration>) -> Result<(), NetError> {
        let TimeoutBy::Timer { timer, armed } = &mut self.timeout_by else {
            return Ok(());
        };
        // A timer of zero is off, which is right both for ever and for a look.
        let after = timeout.unwrap_or(Duration::ZERO);
        if after.is_zero() && !*armed {
            return Ok(());
        }
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        let it_value = Timespec {
            tv_sec: i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: after.subsec_nanos().into(),
        };
        let value = Itimerspec { it_interval: zero, it_value };
        timerfd_settime(timer, TimerfdTimerFlags::empty(), &value)?;
        *armed = !after.is_zero();
        Ok(())
    }
}

fn waited(result: Result<(), Errno>) -> Result<(), NetError> {
    match result {
        Ok(()) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(NetError::doing("cannot wait for readiness", errno)),
    }
}

fn ready(slot: u32, generation: u32, flags: EventFlags) -> Ready {
    let key = Key { slot: slot & !CONNECTING, generation };
    if slot & CONNECTING != 0 {
        return Ready { key, connected: true, readable: false, writable: false, hangup: false };
    }
    let hangup = flags.intersects(EventFlags::HUP | EventFlags::ERR);
    Ready {
        key,
        connected: false,
        readable: hangup || flags.contains(EventFlags::IN),
        writable: flags.contains(EventFlags::OUT),
        hangup,
    }
}

/// What to watch: a pending connect tells by writability, a connection is
/// read from, and written to only while a rest waits.
fn interest(socket: &Socket) -> EventFlags {
    if socket.state == State::Connecting {
        return EventFlags::OUT;
    }
    let mut flags = EventFlags::empty();
    flags.set(EventFlags::IN, socket.reading);
    flags.set(EventFlags::OUT, socket.pending() > 0);
    flags
}

/// Tells two registrations apart; never zero.
fn registration(state: State, flags: EventFlags) -> u32 {
    flags.bits() | if state == State::Connecting { 0x4000_0000 } else { 0x2000_0000 }
}

fn data(key: Key, state: State) -> EventData {
    debug_assert!(key.slot <= Key::LAST_SLOT, "slot {} is the driver's own", key.slot);
    let mark = if state == State::Connecting { CONNECTING } else { 0 };
    EventData::new_u64(u64::from(key.slot | mark) << 32 | u64::from(key.generation))
}

fn own_slot(slot: u32) -> EventData {
    EventData::new_u64(u64::from(slot) << 32)
}

#[cfg(test)]
mod tests {
    use super::{Epoll, TimeoutBy};
    use crate::clock::monotonic_ns;
    use std::time::Duration;

    /// As on a kernel without `epoll_pwait2`.
    fn with_timer() -> Epoll {
        let mut poller = Epoll::new().expect("a poller");
        poller.timeout_by = poller.open_timer().expect("a timer");
        poller
    }

    fn sleep(poller: &mut Epoll, timeout: Duration) -> u64 {
        let start = monotonic_ns();
        poller.wait(Some(timeout)).expect("wait");
        assert!(poller.next().is_none(), "the timer is no readiness of a socket");
        monotonic_ns() - start
    }

    #[test]
    fn a_timer_in_the_set_keeps_the_same_precision() {
        let mut poller = with_timer();
        let slept = (0..301).map(|_| sleep(&mut poller, Duration::from_micros(200)));
        let shortest = slept.min().expect("one at least");
        // In whole milliseconds, none could be shorter than one.
        assert!((200_000..1_000_000).contains(&shortest), "{shortest} ns");
    }

    #[test]
    fn a_timer_that_rang_does_not_end_the_next_wait() {
        let mut poller = with_timer();
        sleep(&mut poller, Duration::from_micros(1));
        sleep(&mut poller, Duration::ZERO);
        assert!(!poller.has_events());
        assert!(sleep(&mut poller, Duration::from_millis(2)) >= 2_000_000);
        assert!(matches!(poller.timeout_by, TimeoutBy::Timer { .. }));
    }

    #[test]
    fn a_wait_for_ever_takes_the_timer_off() {
        let mut poller = with_timer();
        sleep(&mut poller, Duration::from_micros(1));
        let waker = poller.waker();
        let other = std::thread::spawn(move || waker.wake());
        poller.wait(None).expect("wait");
        other.join().expect("the other thread");
        assert_eq!(poller.events.len(), 1, "the waker, and no timer");
    }
}
