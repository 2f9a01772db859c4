//! Connections: one epoll loop, requests in, replies out, some of them later.
//!
//! Knows how HTTP/1.1 is framed, as far as generators of load speak it. Must not know what is answered.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::time::Timespec;

use crate::api::{Api, Asked, When};

const LISTENER: u64 = u64::MAX;
const LATE: Duration = Duration::from_millis(300);
const BACKLOG: i32 = 4096;
const MOST_FIELDS: usize = 48;
const MOST_BYTES: usize = 64 << 10;

/// The server.
pub(crate) struct Server {
    listener: TcpListener,
    poller: OwnedFd,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    /// What is held back, the oldest first: the connection's place, which connection that was, its reply.
    late: VecDeque<(Instant, usize, u64, Vec<u8>)>,
    opened: u64,
    api: Api,
    room: Vec<u8>,
    out: Vec<u8>,
}

struct Connection {
    stream: TcpStream,
    number: u64,
    /// Of a request that has not come whole.
    rest: Vec<u8>,
    /// What the kernel did not take.
    unsent: Vec<u8>,
    is_blocked: bool,
    /// A reply is held back: what comes meanwhile waits.
    is_held: bool,
    is_last: bool,
}

/// What became of a connection's turn.
#[derive(PartialEq, Eq)]
enum Turn {
    Stays,
    Over,
}

impl Server {
    pub(crate) fn new(listener: TcpListener, api: Api) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        // A crowd comes at once: more may wait than a listener of the library has room for.
        rustix::net::listen(&listener, BACKLOG)?;
        let poller = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&poller, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        Ok(Self {
            listener,
            poller,
            connections: Vec::new(),
            free: Vec::new(),
            late: VecDeque::new(),
            opened: 0,
            api,
            room: vec![0; MOST_BYTES],
            out: Vec::new(),
        })
    }

    /// Answers until the process is ended.
    pub(crate) fn serve(&mut self) -> io::Result<()> {
        let mut events = Vec::with_capacity(1024);
        loop {
            let wait = self.late.front().map(|(due, ..)| until(*due));
            events.clear();
            match epoll::wait(
                &self.poller,
                rustix::buffer::spare_capacity(&mut events),
                wait.as_ref(),
            ) {
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    place => self.turn(place as usize, event.flags),
                }
            }
            self.release();
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
                Err(error) => return Err(error),
            };
            stream.set_nonblocking(true)?;
            stream.set_nodelay(true)?;
            let place = self.free.pop().unwrap_or(self.connections.len());
            if place == self.connections.len() {
                self.connections.push(None);
            }
            epoll::add(&self.poller, &stream, EventData::new_u64(place as u64), EventFlags::IN)?;
            self.opened += 1;
            self.api.faults.open += 1;
            self.connections[place] = Some(Connection {
                stream,
                number: self.opened,
                rest: Vec::new(),
                unsent: Vec::new(),
                is_blocked: false,
                is_held: false,
                is_last: false,
            });
        }
    }

    fn turn(&mut self, place: usize, flags: EventFlags) {
        let Some(mut connection) = self.connections[place].take() else { return };
        let told = if flags.contains(EventFlags::OUT) {
            let unsent = std::mem::take(&mut connection.unsent);
            self.send(&mut connection, place, &unsent)
        } else {
            self.hear(&mut connection, place)
        };
        self.put_back(place, connection, &told);
    }

    /// Sends the replies that were held back long enough.
    fn release(&mut self) {
        while self.late.front().is_some_and(|(due, ..)| until(*due) == NOW) {
            let Some((_, place, number, reply)) = self.late.pop_front() else { return };
            let Some(mut connection) =
                self.connections[place].take_if(|connection| connection.number == number)
            else {
                continue;
            };
            connection.is_held = false;
            let mut told = self.send(&mut connection, place, &reply);
            if told.as_ref().is_ok_and(|turn| *turn == Turn::Stays) {
                told = self.answer(&mut connection, place, &[]);
            }
            self.put_back(place, connection, &told);
        }
    }

    fn put_back(&mut self, place: usize, connection: Connection, told: &io::Result<Turn>) {
        if matches!(told, Ok(Turn::Stays)) {
            self.connections[place] = Some(connection);
            return;
        }
        // Closing its socket takes it out of the poller.
        self.api.faults.open -= 1;
        self.free.push(place);
    }

    fn hear(&mut self, connection: &mut Connection, place: usize) -> io::Result<Turn> {
        let mut room = std::mem::take(&mut self.room);
        let told = match connection.stream.read(&mut room) {
            Ok(0) => Ok(Turn::Over),
            Ok(count) => self.answer(connection, place, &room[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Turn::Stays),
            Err(error) => Err(error),
        };
        self.room = room;
        told
    }

    /// Answers each whole request of what came before and now.
    fn answer(
        &mut self,
        connection: &mut Connection,
        place: usize,
        came: &[u8],
    ) -> io::Result<Turn> {
        let mut kept = std::mem::take(&mut connection.rest);
        let mut rest = if kept.is_empty() {
            came
        } else {
            kept.extend_from_slice(came);
            &kept
        };
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        while !connection.is_held && !connection.is_last {
            let Some((asked, length, is_last)) = request(rest)? else { break };
            let begin = out.len();
            let when = self.api.answer(&asked, &mut out);
            connection.is_last = is_last;
            if when == When::Late {
                let reply = out.split_off(begin);
                self.late.push_back((clock() + LATE, place, connection.number, reply));
                connection.is_held = true;
            }
            rest = &rest[length..];
        }
        if rest.len() > MOST_BYTES {
            return Err(ErrorKind::InvalidData.into());
        }
        connection.rest = rest.to_vec();
        let told =
            if out.is_empty() { Ok(Turn::Stays) } else { self.send(connection, place, &out) };
        self.out = out;
        told
    }

    /// Sends this behind what the kernel did not take so far.
    fn send(&self, connection: &mut Connection, place: usize, mut out: &[u8]) -> io::Result<Turn> {
        while connection.unsent.is_empty() && !out.is_empty() {
            match connection.stream.write(out) {
                Ok(count) => out = &out[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        connection.unsent.extend_from_slice(out);
        let is_blocked = !connection.unsent.is_empty();
        if is_blocked != connection.is_blocked {
            let flags = if is_blocked { EventFlags::OUT } else { EventFlags::IN };
            let data = EventData::new_u64(place as u64);
            epoll::modify(&self.poller, &connection.stream, data, flags)?;
            connection.is_blocked = is_blocked;
        }
        let is_over = connection.is_last && !connection.is_held && !is_blocked;
        Ok(if is_over { Turn::Over } else { Turn::Stays })
    }
}

const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

fn until(due: Instant) -> Timespec {
    let left = due.saturating_duration_since(clock());
    if left.is_zero() {
        return NOW;
    }
    Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos().max(1_000_000)) }
}

#[expect(clippy::disallowed_methods, reason = "it has no clock module: it holds replies back only")]
fn clock() -> Instant {
    Instant::now()
}

/// The first request, its length, and whether it is the last of its connection; none: it has not come whole.
fn request(bytes: &[u8]) -> io::Result<Option<(Asked<'_>, usize, bool)>> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    let head = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => head,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(io::Error::new(ErrorKind::InvalidData, error)),
    };
    let (mut length, mut token, mut is_last) = (0, None, parsed.version == Some(0));
    for field in parsed.headers.iter() {
        let value = str::from_utf8(field.value).unwrap_or_default();
        if field.name.eq_ignore_ascii_case("content-length") {
            length = value.parse().map_err(|_| ErrorKind::InvalidData)?;
        } else if field.name.eq_ignore_ascii_case("authorization") {
            token = value.strip_prefix("Bearer ");
        } else if field.name.eq_ignore_ascii_case("connection") {
            is_last = value.eq_ignore_ascii_case("close");
        } else if field.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(ErrorKind::InvalidData.into());
        }
    }
    let end = head.saturating_add(length);
    let Some(body) = bytes.get(head..end) else { return Ok(None) };
    let (method, target) = (parsed.method.unwrap_or_default(), parsed.path.unwrap_or_default());
    Ok(Some((Asked { method, target, token, body }, end, is_last)))
}
