//! What a request over QUIC costs its client: quinn-proto and quiche in memory, and the kernel per datagram.
//!
//! Both clients ask the same server (quinn-proto's, in the same thread): M requests at once, each on a
//! stream of its own, answered by 1 KiB. The client's calls alone are timed. Rounds are interleaved, and
//! each figure is the median over them. Nothing goes through a socket there; what the kernel takes for a
//! datagram is measured by itself, on loopback.

mod client;
mod kernel;
mod peer;
mod quiche_client;
mod quinn_client;

use std::time::{Duration, Instant};

use client::Client;
use peer::Peer;

/// Bytes of a request: a HEADERS frame of HTTP/3 as a GET without much to say takes them.
const REQUEST: [u8; 48] = [0x42; 48];
/// Bytes of a reply: a HEADERS frame, and 1 KiB in a DATA frame.
const REPLY: [u8; 1100] = [0x24; 1100];
/// Bytes of a UDP payload at most: what fits a link of 1,500 with room for a tunnel.
const DATAGRAM: u16 = 1350;

const ROUNDS: usize = 15;
const REQUESTS: usize = 20_000;

type Failure = Box<dyn std::error::Error>;

#[derive(serde::Serialize)]
struct Row {
    what: String,
    /// Nanoseconds of the client's thread: median, least and most over the rounds.
    ns: [f64; 3],
    unit: &'static str,
    rounds: usize,
}

fn main() -> Result<(), Failure> {
    let wants_json = std::env::args().any(|it| it == "--json");
    let mut rows = Vec::new();
    for streams in [1, 32] {
        rows.extend(requests(streams)?);
    }
    rows.extend(kernel::datagrams(ROUNDS)?);
    if wants_json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    println!("| what | median | least to most | per |\n|---|---|---|---|");
    for Row { what, ns: [median, least, most], unit, .. } in &rows {
        println!("| {what} | {median:.0} ns | {least:.0} to {most:.0} | {unit} |");
    }
    Ok(())
}

/// Requests of both clients, `streams` in flight.
fn requests(streams: usize) -> Result<Vec<Row>, Failure> {
    let mut clients: [(&str, Vec<f64>, f64); 2] =
        [("quinn-proto", vec![], 0.0), ("quiche", vec![], 0.0)];
    for _ in 0..ROUNDS {
        for (name, ns, datagrams) in &mut clients {
            let mut peer = Peer::new()?;
            let mut client: Box<dyn Client> = match *name {
                "quinn-proto" => Box::new(quinn_client::Quinn::new(peer.authority())?),
                _ => Box::new(quiche_client::Quiche::new()?),
            };
            connect(client.as_mut(), &mut peer)?;
            batches(client.as_mut(), &mut peer, streams, REQUESTS / 10)?;
            let spent = batches(client.as_mut(), &mut peer, streams, REQUESTS)?;
            ns.push(spent.time.as_nanos() as f64 / REQUESTS as f64);
            *datagrams = spent.datagrams as f64 / REQUESTS as f64;
        }
    }
    let row = |(name, ns, datagrams): (&str, Vec<f64>, f64)| Row {
        what: format!("{name}, {streams} in flight ({datagrams:.2} datagrams each way together)"),
        ns: summary(ns),
        unit: "request",
        rounds: ROUNDS,
    };
    Ok(clients.into_iter().map(row).collect())
}

/// What some requests took of the client.
struct Spent {
    time: Duration,
    /// Both ways.
    datagrams: usize,
}

/// Most turns that a handshake or a batch takes: a bound, so that a defect ends as a failure.
const TURNS: usize = 10_000;

fn connect(client: &mut dyn Client, peer: &mut Peer) -> Result<(), Failure> {
    for _ in 0..TURNS {
        peer.take(client.sent()?);
        client.take(peer.sent())?;
        if client.is_connected() {
            return Ok(());
        }
    }
    Err("the handshake did not end".into())
}

/// Asks `streams` times at once until `count` replies are there; only what the client does is timed.
fn batches(
    client: &mut dyn Client,
    peer: &mut Peer,
    streams: usize,
    count: usize,
) -> Result<Spent, Failure> {
    let mut spent = Spent { time: Duration::ZERO, datagrams: 0 };
    for _ in 0..count.div_ceil(streams) {
        let begin = Instant::now();
        for _ in 0..streams {
            client.ask(&REQUEST)?;
        }
        let mut out = client.sent()?;
        spent.time += begin.elapsed();
        let mut replies = 0;
        for _ in 0..TURNS {
            spent.datagrams += out.len();
            peer.take(out);
            let back = peer.sent();
            spent.datagrams += back.len();
            let begin = Instant::now();
            client.take(back)?;
            replies += client.replies(REPLY.len())?;
            out = client.sent()?;
            spent.time += begin.elapsed();
            if replies == streams {
                break;
            }
        }
        if replies != streams {
            return Err(format!("{replies} of {streams} replies came").into());
        }
        spent.datagrams += out.len();
        peer.take(out);
    }
    Ok(spent)
}

/// Median, least, most.
fn summary(mut figures: Vec<f64>) -> [f64; 3] {
    figures.sort_by(f64::total_cmp);
    [figures[figures.len() / 2], figures[0], figures[figures.len() - 1]]
}
