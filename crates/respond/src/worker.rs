//! One thread, one loop: readiness in, turns out.
//!
//! Knows sockets, timers and which connection has which key. Must not know any protocol.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use wiretrial_net::clock::{monotonic_ns, realtime_ns};
use wiretrial_net::{Driver, Key, Listener, NetError, Socket, Transport, Waker};
use wiretrial_proto::Scratch;
use wiretrial_proto::http1::DateField;

use crate::connection::{Connection, Context, Next, Resources};
use crate::hub::{Dispatcher, Member};
use crate::plan::{Endpoint, RespondError};
use crate::quic::{self, Doors, Premises};
use crate::shared::Shared;
use crate::slab::Slab;
use crate::timers::Timers;

/// Connections accepted in one turn. Then the accepted ones have theirs.
const ACCEPTS_PER_TURN: u32 = 64;
/// How long no connection is accepted after descriptors ran out, nanoseconds.
const ACCEPT_PAUSE: u64 = 50_000_000;
/// How long a stopping server waits until its answers have gone out, nanoseconds.
const STOP_GRACE: u64 = 1_000_000_000;
/// How often it checks that.
const STOP_LOOK: Duration = Duration::from_millis(5);
/// How often another port is tried where the kernel's choice is free for TCP alone.
const MOST_PORTS: u32 = 16;

/// The event loop of one thread and what it owns.
#[derive(Debug)]
pub(crate) struct Worker {
    driver: Driver,
    entrances: Vec<Entrance>,
    connections: Slab<Connection>,
    /// Those of HTTP/3.
    doors: Doors,
    timers: Timers,
    /// Connections that asked for another turn.
    again: Vec<Key>,
    /// No connection is accepted until this instant, because descriptors ran out.
    refusing_until: Option<u64>,
    staging: Vec<u8>,
    scratch: Scratch,
    shared: Arc<Shared>,
    /// Notices for its connections.
    dispatcher: Dispatcher,
    /// The date that answers of this thread carry.
    date: Arc<DateField>,
    /// Which thread of the server this is.
    index: usize,
}

/// A listener and the protocol of its connections.
#[derive(Debug)]
struct Entrance {
    listener: Listener,
    endpoint: Endpoint,
}

impl Worker {
    /// Listens on all endpoints. They take the first slots, in their order, and behind them those that
    /// answer HTTP/3, too.
    pub(crate) fn new(
        endpoints: Vec<Endpoint>,
        mut driver: Driver,
        shared: Arc<Shared>,
        index: usize,
    ) -> Result<Self, RespondError> {
        let mut entrances = Vec::with_capacity(endpoints.len());
        let mut doors = Doors::new();
        let place = (index, shared.counters.len());
        let mut behind = endpoints.len() as u32;
        for (slot, endpoint) in (0..).zip(endpoints) {
            let keys = [slot, behind].map(|slot| Key { slot, generation: 0 });
            let listener = listen(&endpoint, keys, place, &mut driver, &mut doors);
            behind += u32::from(endpoint.quic.is_some());
            let listener = listener.map_err(RespondError::Listen)?;
            entrances.push(Entrance { listener, endpoint });
        }
        shared.hub.register(index, driver.waker());
        Ok(Self {
            driver,
            connections: Slab::new(behind),
            doors,
            entrances,
            timers: Timers::default(),
            again: Vec::new(),
            refusing_until: None,
            staging: Vec::new(),
            scratch: Scratch::new(),
            shared,
            dispatcher: Dispatcher::new(index),
            date: Arc::new(DateField::new(unix_seconds())),
            index,
        })
    }

    /// Where it listens, in the order of the endpoints.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.entrances.iter().map(|entrance| entrance.listener.local_addr()).collect()
    }

    pub(crate) fn waker(&self) -> Waker {
        self.driver.waker()
    }

    /// Serves until the server stops.
    pub(crate) fn run(mut self) -> Result<(), RespondError> {
        while !self.shared.is_stopping() {
            let timeout = self.timeout();
            self.driver.wait(timeout)?;
            self.sit_out_freeze();
            self.serve_round()?;
        }
        self.shut_down()
    }

    /// One round: what became ready, what asked for another turn, what is due.
    fn serve_round(&mut self) -> Result<(), RespondError> {
        self.date.set(unix_seconds());
        while let Some(ready) = self.driver.next() {
            let slot = ready.key.slot;
            if (slot as usize) < self.entrances.len() {
                self.accept(slot as usize);
            } else if slot < self.connections.first() {
                self.doors.on_ready(ready)?;
            } else {
                self.turn(ready.key, |it, context| it.on_ready(ready, context));
            }
        }
        for key in std::mem::take(&mut self.again) {
            self.turn(key, Connection::on_turn);
        }
        if self.timers.next_due().is_some() {
            let now = monotonic_ns();
            while let Some(key) = self.timers.pop_due(now) {
                if quic::is_key(key) {
                    self.at_the_doors(|doors, _, premises| doors.on_alarm(key, premises));
                } else {
                    self.turn(key, |it, context| it.on_alarm(now, context));
                }
            }
        }
        self.deliver();
        self.at_the_doors(Doors::finish_round)?;
        if self.refusing_until.is_some_and(|until| until <= monotonic_ns()) {
            self.refusing_until = None;
            self.set_accepting(true);
        }
        Ok(())
    }

    /// Delivers all notices that are due; then each connection that got some flushes once.
    fn deliver(&mut self) {
        let hub = &self.shared.hub;
        if self.dispatcher.next_due().is_some() {
            self.dispatcher.release(monotonic_ns(), hub);
        }
        self.dispatcher.collect(hub);
        if !self.dispatcher.is_pending() {
            return;
        }
        let envelopes = self.dispatcher.take_queue();
        for envelope in &envelopes {
            let (to, notice) = (envelope.to, &envelope.notice);
            if quic::is_key(to) {
                self.at_the_doors(|doors, _, premises| doors.on_notice(to, notice, premises));
            } else {
                self.turn(to, |it, context| it.on_notice(notice, context));
            }
        }
        self.dispatcher.recycle(envelopes);
        for key in std::mem::take(&mut self.again) {
            self.turn(key, Connection::on_turn);
        }
    }

    fn timeout(&mut self) -> Option<Duration> {
        if !self.again.is_empty() || self.dispatcher.is_pending() {
            return Some(Duration::ZERO);
        }
        let by_themselves = self.doors.next_due();
        let due = [
            self.timers.next_due(),
            self.dispatcher.next_due(),
            self.refusing_until,
            by_themselves,
        ];
        let due = due.into_iter().flatten().min()?;
        Some(Duration::from_nanos(due.saturating_sub(monotonic_ns())))
    }

    /// During a freeze of the script the thread does nothing.
    fn sit_out_freeze(&self) {
        if self.shared.script.stall.is_none() {
            return;
        }
        loop {
            let now = monotonic_ns();
            let Some(until) = self.shared.frozen_until(now).filter(|_| !self.shared.is_stopping())
            else {
                return;
            };
            // The server unparks its threads when it stops.
            thread::park_timeout(Duration::from_nanos(until - now));
        }
    }

    fn accept(&mut self, entrance: usize) {
        for _ in 0..ACCEPTS_PER_TURN {
            let Some(key) = self.connections.next_key() else {
                return self.pause_accepting();
            };
            match self.driver.accept(&self.entrances[entrance].listener, key) {
                Ok(Some((socket, _))) => self.admit(entrance, socket),
                Ok(None) => return,
                Err(_) => return self.pause_accepting(),
            }
        }
    }

    fn admit(&mut self, entrance: usize, socket: Socket) {
        let endpoint = &self.entrances[entrance].endpoint;
        let transport = match &endpoint.tls {
            None => Transport::plain(socket),
            Some(tls) => match Transport::tls_server(socket, tls, &mut self.driver) {
                Ok(transport) => transport,
                // The settings were good when the server started; it lives on without this one.
                Err(_) => return,
            },
        };
        self.connections.insert(Connection::new(
            transport,
            endpoint.kind,
            &self.shared,
            &self.date,
        ));
        self.shared.counters[self.index].add_accepted();
    }

    /// Descriptors ran out. Without a pause the loop would spin on the connections that wait.
    fn pause_accepting(&mut self) {
        self.refusing_until = Some(monotonic_ns() + ACCEPT_PAUSE);
        self.set_accepting(false);
    }

    fn set_accepting(&mut self, accepting: bool) {
        for entrance in &self.entrances {
            // It fails only for a listener that is not in the poller; these are.
            let _ = self.driver.set_accepting(&entrance.listener, accepting);
        }
    }

    /// Gives a connection its turn, if it still exists, and does what it asks for.
    fn turn(&mut self, key: Key, act: impl FnOnce(&mut Connection, &mut Context<'_>) -> Next) {
        let Some(connection) = self.connections.get_mut(key) else {
            return;
        };
        let resources = Resources {
            shared: &self.shared,
            counters: &self.shared.counters[self.index],
            staging: &mut self.staging,
            scratch: &mut self.scratch,
            member: Member { hub: &self.shared.hub, dispatcher: &mut self.dispatcher, key },
        };
        let mut context = Context { driver: &mut self.driver, resources };
        let before = connection.bytes();
        let next = act(connection, &mut context);
        context.resources.counters.add_bytes(before, connection.bytes());
        match next {
            Next::Again => self.again.push(key),
            Next::Wait => {}
            Next::Close | Next::Abort => return self.dismiss(key, next == Next::Abort),
        }
        if let Some(due) = connection.take_alarm() {
            self.timers.push(due, key);
        }
    }

    /// Lets the connections of HTTP/3 do something.
    fn at_the_doors<T>(
        &mut self,
        act: impl FnOnce(&mut Doors, &mut Driver, &mut Premises<'_>) -> T,
    ) -> T {
        let mut premises = Premises {
            shared: &self.shared,
            counters: &self.shared.counters[self.index],
            staging: &mut self.staging,
            scratch: &mut self.scratch,
            dispatcher: &mut self.dispatcher,
            timers: &mut self.timers,
        };
        act(&mut self.doors, &mut self.driver, &mut premises)
    }

    fn dismiss(&mut self, key: Key, abort: bool) {
        let Some(connection) = self.connections.remove(key) else {
            return;
        };
        let dispatcher = &mut self.dispatcher;
        Member { hub: &self.shared.hub, dispatcher, key }.leave_all(connection.memberships());
        let transport = connection.into_transport();
        if abort {
            transport.abort(&mut self.driver);
        } else {
            transport.close(&mut self.driver);
        }
        self.shared.counters[self.index].add_closed();
    }

    /// Accepts no more connections, waits a while for answers under way, closes the rest.
    fn shut_down(&mut self) -> Result<(), RespondError> {
        let until = monotonic_ns() + STOP_GRACE;
        self.refusing_until = None;
        self.set_accepting(false);
        loop {
            for key in self.connections.keys() {
                self.turn(key, Connection::leave);
            }
            self.at_the_doors(|doors, _, premises| doors.leave(premises));
            let is_empty = self.connections.len() + self.doors.len() == 0;
            if is_empty || monotonic_ns() >= until {
                break;
            }
            let timeout = self.timeout().map_or(STOP_LOOK, |timeout| timeout.min(STOP_LOOK));
            self.driver.wait(Some(timeout))?;
            self.serve_round()?;
        }
        self.at_the_doors(Doors::close);
        for key in self.connections.keys() {
            self.dismiss(key, false);
        }
        Ok(())
    }
}

/// Listens at an address, and on its UDP port where HTTP/3 is answered beside it. `keys`: the listener's,
/// and the door's; `place`: which of how many threads it is for.
fn listen(
    endpoint: &Endpoint,
    keys: [Key; 2],
    place: (usize, usize),
    driver: &mut Driver,
    doors: &mut Doors,
) -> Result<Listener, NetError> {
    let Endpoint { address, quic, congestion, .. } = endpoint;
    let [key, door] = keys;
    let (index, threads) = place;
    let several = threads > 1;
    let mut tries = 0;
    loop {
        if several && index == 0 {
            // Whoever shares would also share with another server's threads, and be given a
            // part of its connections. One listener alone tells whether somebody is there.
            drop(driver.listen(key, *address, false)?);
        }
        let listener = driver.listen(key, *address, several)?;
        congestion.map_or(Ok(()), |wanted| listener.set_congestion(wanted))?;
        let Some(config) = quic else { return Ok(listener) };
        match doors.open(config, listener.local_addr(), place, door, driver) {
            Ok(()) => return Ok(listener),
            Err(error) => {
                tries += 1;
                if address.port() != 0 || tries == MOST_PORTS {
                    return Err(error);
                }
            }
        }
    }
}

/// The wall clock, for the date of answers.
fn unix_seconds() -> u64 {
    realtime_ns() / 1_000_000_000
}
