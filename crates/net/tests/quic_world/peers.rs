//! What both ends do with streams: a client that sends bytes and wants them back, a server that echoes.

use std::collections::BTreeMap;
use std::ops::Range;

use fastrand::Rng;
use wiretrial_net::quic::{Connection, Direction, Event, Gone, Read};

/// Read at a time: less than a window, so that reading takes several turns.
const MOST: usize = 4096;

/// The application's code of a client that is done.
pub(crate) const DONE: u64 = 0x77;

/// The byte of a stream at an offset. Neighbours differ, and streams do.
pub(crate) fn byte(stream: u64, offset: usize) -> u8 {
    (stream.wrapping_mul(31) as usize)
        .wrapping_add(offset.wrapping_mul(7))
        .wrapping_add(offset >> 8) as u8
}

/// What a client does with one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errand {
    pub(crate) direction: Direction,
    pub(crate) bytes: usize,
    pub(crate) ends: Ends,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    Whole,
    /// Gives up sending after so many bytes.
    Resets(usize),
    /// Wants no more of the echo after so many bytes.
    Stops(usize),
}

/// Streams both ways.
pub(crate) fn four() -> Vec<Errand> {
    let errand = |bytes| Errand { direction: Direction::Bidirectional, bytes, ends: Ends::Whole };
    [0, 1, 20_000, 50_000].map(errand).into()
}

/// Enough for some hundred milliseconds at a latency of ten.
pub(crate) fn large() -> Vec<Errand> {
    let direction = Direction::Bidirectional;
    (0..4).map(|_| Errand { direction, bytes: 400_000, ends: Ends::Whole }).collect()
}

/// What a seed draws.
pub(crate) fn drawn(random: &mut Rng) -> Errand {
    let is_uni = random.u8(..4) == 0;
    let direction = if is_uni { Direction::Unidirectional } else { Direction::Bidirectional };
    let bytes = [0, 1, 100, 1_000, 10_000, 60_000][random.usize(..6)];
    let ends = match random.u8(..8) {
        0 => Ends::Resets(random.usize(0..=bytes)),
        1 if !is_uni => Ends::Stops(random.usize(0..=bytes)),
        _ => Ends::Whole,
    };
    Errand { direction, bytes, ends }
}

/// A client: its errands and how far they are.
#[derive(Debug, Default)]
pub(crate) struct Client {
    errands: Vec<Errand>,
    /// Streams by their errands' index; None: not opened yet.
    streams: Vec<Option<Stream>>,
    /// Bytes of the server's own stream, and whether it has ended.
    greeting: (Option<u64>, usize, bool),
    pub(crate) is_connected: bool,
    /// Nothing is opened before this instant.
    pub(crate) idle_until: u64,
    allowed: u64,
}

#[derive(Debug)]
struct Stream {
    id: u64,
    written: usize,
    is_sent: bool,
    read: usize,
    is_read: bool,
}

impl Stream {
    fn new(id: u64) -> Self {
        Self { id, written: 0, is_sent: false, read: 0, is_read: false }
    }
}

/// Bytes of the stream that the server opens by itself.
pub(crate) const GREETING: usize = 10_000;

impl Client {
    pub(crate) fn new(errands: Vec<Errand>, idle_until: u64) -> Self {
        let streams = errands.iter().map(|_| None).collect();
        Self { errands, streams, idle_until, ..Self::default() }
    }

    pub(crate) fn is_done(&self) -> bool {
        let all = self.streams.iter().flatten().filter(|it| it.is_sent && it.is_read).count();
        all == self.errands.len() && self.greeting.2
    }

    /// All streams are gone, as if they had never been.
    pub(crate) fn forget(&mut self) {
        self.streams.iter_mut().for_each(|stream| *stream = None);
        self.allowed = 0;
    }

    pub(crate) fn heard(&mut self, event: &Event, connection: &mut Connection) {
        match *event {
            Event::Readable(id) => self.read(id, connection),
            // Of a stream that brings nothing back, this is how the client knows that it arrived.
            Event::Finished(id) if id & 2 != 0 => {
                let stream = self.streams.iter_mut().flatten().find(|stream| stream.id == id);
                stream.expect("a stream of ours").is_read = true;
            }
            _ => {}
        }
    }

    /// Opens and writes as far as it goes.
    pub(crate) fn push(&mut self, connection: &mut Connection, now: u64) {
        if now < self.idle_until || connection.is_closed() {
            return;
        }
        let allowed = connection.allowed(Direction::Bidirectional, 3);
        assert!(allowed >= self.allowed, "{allowed} streams, {} before", self.allowed);
        self.allowed = allowed;
        let may_open = self.is_connected || connection.is_early();
        let mut unis = 0;
        for (errand, slot) in self.errands.iter().zip(&mut self.streams) {
            let is_uni = errand.direction == Direction::Unidirectional;
            // The client's own number of the next one (RFC 9000, section 2.1).
            let uni = 2 + 4 * unis;
            unis += u64::from(is_uni);
            if slot.is_none() && is_uni && errand.ends == Ends::Whole {
                let bytes: Vec<u8> = (0..errand.bytes).map(|at| byte(uni, at)).collect();
                connection.send(uni, &bytes, true, now).expect("open");
                *slot = Some(Stream { is_sent: true, ..Stream::new(uni) });
            }
            if !may_open {
                continue;
            }
            if slot.is_none() {
                let opened = if is_uni {
                    connection.open_to(uni, now).then_some(uni)
                } else {
                    connection.open(errand.direction, now)
                };
                let Some(id) = opened else { continue };
                *slot = Some(Stream { is_read: is_uni, ..Stream::new(id) });
            }
            let Some(stream) = slot.as_mut().filter(|stream| !stream.is_sent) else { continue };
            let end = match errand.ends {
                Ends::Resets(after) => after.min(errand.bytes),
                _ => errand.bytes,
            };
            match write(connection, stream.id, stream.written..end, now) {
                Ok(count) => stream.written += count,
                // The server has given it up: it was asked to stop, too.
                Err(Gone) => stream.is_sent = true,
            }
            if stream.written == end && !stream.is_sent {
                stream.is_sent = true;
                match errand.ends {
                    Ends::Resets(_) => connection.reset(stream.id, 9, now).expect("open"),
                    _ => connection.finish(stream.id).expect("open"),
                }
            }
        }
    }

    fn read(&mut self, id: u64, connection: &mut Connection) {
        let mut out = Vec::new();
        loop {
            out.clear();
            let Ok(read) = connection.read(id, &mut out, MOST) else { return };
            if id & 1 == 1 {
                self.greet(id, &out, read);
            } else {
                self.echo(id, &out, read, connection);
            }
            if read != Read::More {
                return;
            }
        }
    }

    fn greet(&mut self, id: u64, out: &[u8], read: Read) {
        let (stream, count, is_over) = &mut self.greeting;
        assert_eq!(*stream.get_or_insert(id), id, "the server opens one stream");
        check(id, *count, out);
        *count += out.len();
        if read == Read::Finished {
            assert_eq!((*count, *is_over), (GREETING, false));
            *is_over = true;
        }
    }

    fn echo(&mut self, id: u64, out: &[u8], read: Read, connection: &mut Connection) {
        let found = self.streams.iter_mut().zip(&self.errands).find_map(|(stream, errand)| {
            Some((stream.as_mut().filter(|stream| stream.id == id)?, errand))
        });
        let (stream, errand) = found.expect("a stream of ours");
        check(id, stream.read, out);
        stream.read += out.len();
        match (read, errand.ends) {
            (Read::Finished, Ends::Whole | Ends::Stops(_)) => {
                assert_eq!(stream.read, errand.bytes, "stream {id} is cut short");
                stream.is_read = true;
            }
            (Read::Reset(code), Ends::Resets(_)) => {
                assert_eq!(code, 9);
                stream.is_read = true;
            }
            (Read::Finished | Read::Reset(_), _) => panic!("stream {id} ends by {read:?}"),
            (_, Ends::Stops(after)) if stream.read >= after && !stream.is_read => {
                connection.stop(id, 8).expect("open");
                stream.is_read = true;
            }
            _ => {}
        }
    }
}

/// A server's side of one connection.
#[derive(Debug, Default)]
pub(crate) struct Server {
    echoes: BTreeMap<u64, Echo>,
    tally: Tally,
}

/// What servers counted: streams of which all bytes came, and those that were given up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) finished: u64,
    reset: u64,
    stopped: u64,
}

impl Tally {
    /// Of all connections; the client has checked what it got.
    pub(crate) fn of<'a>(_: &Client, servers: impl Iterator<Item = &'a Server>) -> Self {
        servers.fold(Self::default(), |sum, Server { tally, .. }| Self {
            finished: sum.finished + tally.finished,
            reset: sum.reset + tally.reset,
            stopped: sum.stopped + tally.stopped,
        })
    }
}

#[derive(Debug, Default)]
struct Echo {
    read: usize,
    /// Nothing more is sent back.
    is_mute: bool,
}

impl Server {
    pub(crate) fn heard(&mut self, event: &Event, connection: &mut Connection, now: u64) {
        match *event {
            Event::Connected(_) => {
                // The first of those that a server opens (RFC 9000, section 2.1).
                let id = 3;
                let bytes: Vec<u8> = (0..GREETING).map(|at| byte(id, at)).collect();
                connection.send(id, &bytes, true, now).expect("open");
            }
            Event::Readable(id) => self.read(id, connection, now),
            Event::Stopped(id, code) => {
                assert_eq!(code, 8);
                self.tally.stopped += 1;
                self.echoes.entry(id).or_default().is_mute = true;
                // It may have ended just now.
                let _ = connection.reset(id, code, now);
            }
            _ => {}
        }
    }

    fn read(&mut self, id: u64, connection: &mut Connection, now: u64) {
        let mut out = Vec::new();
        loop {
            out.clear();
            let Ok(read) = connection.read(id, &mut out, MOST) else { return };
            let echo = self.echoes.entry(id).or_default();
            check(id, echo.read, &out);
            echo.read += out.len();
            echo.is_mute |= !goes_back(id);
            if !echo.is_mute {
                let is_last = read == Read::Finished;
                // The client wants no more of it: that is told, too.
                echo.is_mute = connection.send(id, &out, is_last, now).is_err();
            }
            match read {
                Read::More => continue,
                Read::Blocked => {}
                Read::Finished => self.tally.finished += 1,
                Read::Reset(code) => {
                    self.tally.reset += 1;
                    if !echo.is_mute {
                        connection.reset(id, code, now).expect("open");
                    }
                    echo.is_mute = true;
                }
            }
            return;
        }
    }
}

/// Writes these bytes of a stream as far as it goes.
fn write(
    connection: &mut Connection,
    id: u64,
    bytes: Range<usize>,
    now: u64,
) -> Result<usize, Gone> {
    let mut count = 0;
    while count < bytes.len() {
        let from = bytes.start + count;
        let piece: Vec<u8> = (from..bytes.end.min(from + MOST)).map(|at| byte(id, at)).collect();
        let written = connection.write(id, &piece, now)?;
        count += written;
        if written < piece.len() {
            break;
        }
    }
    Ok(count)
}

/// Whether the server may send on a stream of the client's.
fn goes_back(id: u64) -> bool {
    id & 2 == 0
}

fn check(id: u64, from: usize, bytes: &[u8]) {
    for (offset, found) in bytes.iter().enumerate() {
        assert_eq!(*found, byte(id, from + offset), "stream {id} at {}", from + offset);
    }
}
