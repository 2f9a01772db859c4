//! What any load generator costs at least here: one io_uring loop over connections that all send
//! the same bytes again when as many bytes came back as a reply has.
//!
//! Knows neither WebSocket nor HTTP beyond the bytes that it sends, reads no clock per message,
//! verifies nothing. It is what the engine is measured against, and no part of what is shipped.

#![expect(clippy::disallowed_methods, reason = "no clock module: it looks for the end only")]

mod connect;
mod datagrams;
mod hold;
mod http2;
mod punctual;
mod ring;

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use connect::{Conversation, Protocol};
use datagrams::{Answering, Asking};
use hold::Crowd;
use http2::{Asked, Recorded};
use punctual::Question;
use ring::{Buffers, Ring};

const USAGE: &str =
    "usage: wiretrial-floor ws|http|h2|grpc IP:PORT PATH CONNECTIONS DEPTH BYTES SECONDS CPU
  ws: DEPTH echoes of BYTES go in one write; http: DEPTH GET requests are in flight;
  h2: DEPTH streams, of GET, or of POST with BYTES; grpc: DEPTH calls with a message of BYTES
usage: wiretrial-floor datagrams IP:PORT CONNECTIONS REQUESTS SENT SEGMENT RECEIVED SECONDS CPU
  REQUESTS go together as SENT bytes in datagrams of SEGMENT, and RECEIVED bytes answer them
usage: wiretrial-floor answer IP:PORT ASKED ANSWER SEGMENT CPU
  ANSWER bytes in datagrams of SEGMENT for each ASKED bytes of a client, until the input ends
usage: wiretrial-floor hold IP:PORT PATH CONNECTIONS THREADS
  how long it takes until so many WebSocket connections stand
usage: wiretrial-floor watch IP:PORT PATH CONNECTIONS THREADS
  the same, in epoll sets; they stand until the input ends
usage: wiretrial-floor gaps SECONDS CPU
  when a program that only reads the clock did not run
usage: wiretrial-floor timer RATE SECONDS CPU
  how late a program was that only sleeps until each of RATE instants a second";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut stands = false;
    let done = if let Some(plan) = Plan::parse(&arguments) {
        run(&plan).map(|messages| format!("{{\"messages\": {messages}}}"))
    } else if let Some(crowd) = Crowd::parse(&arguments) {
        stands = crowd.stays();
        crowd.open().map(|seconds| format!("{{\"seconds\": {seconds:.3}}}"))
    } else if let Some(asking) = Asking::parse(&arguments) {
        pin(asking.cpu).and_then(|()| asking.run()).map(|it| format!("{{\"messages\": {it}}}"))
    } else if let Some(answering) = Answering::parse(&arguments) {
        stands = true;
        let bound = pin(answering.cpu).and_then(|()| answering.start());
        bound.map(|address| format!("{{\"address\": \"{address}\"}}"))
    } else if let Some((question, duration, cpu)) = Question::parse(&arguments) {
        let answer = pin(cpu).and_then(|()| question.ask(duration));
        answer.map(|answer| format!("{{\"ns\": {answer:?}}}"))
    } else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match done {
        Ok(found) => {
            println!("{found}");
            if stands {
                // Its end is the word to go; what it says, and whether it says it well, is nothing.
                let _ = io::copy(&mut io::stdin(), &mut io::sink());
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("wiretrial-floor: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Plan {
    protocol: Protocol,
    address: String,
    path: String,
    connections: usize,
    depth: usize,
    bytes: usize,
    duration: Duration,
    cpu: usize,
}

impl Plan {
    fn parse(arguments: &[String]) -> Option<Self> {
        let [protocol, address, path, numbers @ ..] = arguments else { return None };
        let numbers: Vec<usize> =
            numbers.iter().map(|number| number.parse().ok()).collect::<Option<_>>()?;
        let &[connections, depth, bytes, seconds, cpu] = numbers.as_slice() else { return None };
        let protocol = match protocol.as_str() {
            "ws" => Protocol::WebSocket,
            "http" => Protocol::Http,
            "h2" => Protocol::Http2(Asked::Request),
            "grpc" => Protocol::Http2(Asked::Call),
            _ => return None,
        };
        Some(Self {
            protocol,
            address: address.clone(),
            path: path.clone(),
            connections,
            depth,
            bytes,
            duration: Duration::from_secs(seconds as u64),
            cpu,
        })
    }
}

/// Sends until the time is over; gives the replies that came.
fn run(plan: &Plan) -> io::Result<u64> {
    pin(plan.cpu)?;
    if let Protocol::Http2(asked) = plan.protocol {
        return run_streams(plan, asked);
    }
    let conversation = Conversation::new(plan.protocol, &plan.address, &plan.path, plan.bytes);
    let sockets =
        (0..plan.connections).map(|_| conversation.open()).collect::<io::Result<Vec<_>>>()?;
    let reply = conversation.reply_bytes()?;
    let request = conversation.request();
    let requests = request.repeat(plan.depth);
    // In packs, the next pack goes when the whole last one is back.
    let pack = if plan.protocol == Protocol::WebSocket { plan.depth } else { 1 };
    let mut pending = vec![0_usize; sockets.len()];
    let mut ring = Ring::new(&sockets, Buffers::OF_STREAMS)?;
    for at in 0..sockets.len() {
        ring.receive(at)?;
        ring.send(at, &requests)?;
    }
    let mut messages = 0_u64;
    let end = Instant::now() + plan.duration;
    loop {
        let completed = ring.wait()?;
        for index in 0..completed {
            let Some((at, bytes)) = ring.received(index)? else { continue };
            pending[at] += bytes.len();
            let units = pending[at] / (reply * pack);
            if units > 0 {
                pending[at] -= units * reply * pack;
                messages += (units * pack) as u64;
                ring.send(at, &requests[..units * pack * request.len()])?;
            }
        }
        // One look at the clock per turn, for the end only.
        if Instant::now() >= end {
            return Ok(messages);
        }
    }
}

/// The same of streams, each of which is one request.
fn run_streams(plan: &Plan, asked: Asked) -> io::Result<u64> {
    let recorded = Recorded::new(asked, &plan.address, &plan.path, plan.bytes);
    let opened = (0..plan.connections).map(|_| http2::Conversation::open(&plan.address));
    let (sockets, mut conversations): (Vec<_>, Vec<_>) =
        opened.collect::<io::Result<Vec<_>>>()?.into_iter().unzip();
    let mut ring = Ring::new(&sockets, Buffers::OF_STREAMS)?;
    for (at, conversation) in conversations.iter_mut().enumerate() {
        ring.receive(at)?;
        ring.send(at, conversation.requests(&recorded, plan.depth))?;
    }
    // What ended in a turn is asked again at its end, so that it goes in one write.
    let (mut ended, mut busy) = (vec![0_usize; sockets.len()], Vec::new());
    let mut messages = 0_u64;
    let end = Instant::now() + plan.duration;
    loop {
        let completed = ring.wait()?;
        for index in 0..completed {
            let Some((at, bytes)) = ring.received(index)? else { continue };
            let count = conversations[at].take(bytes)?;
            if count > 0 && ended[at] == 0 {
                busy.push(at);
            }
            ended[at] += count;
        }
        for at in busy.drain(..) {
            let count = std::mem::take(&mut ended[at]);
            messages += count as u64;
            ring.send(at, conversations[at].requests(&recorded, count))?;
        }
        if Instant::now() >= end {
            return Ok(messages);
        }
    }
}

fn pin(cpu: usize) -> io::Result<()> {
    // SAFETY: a set of zeroes is an empty set; the CPU's number is checked by the macro's own bound.
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu.min(libc::CPU_SETSIZE as usize - 1), &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
