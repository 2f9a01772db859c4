//! What the kernel takes for a datagram on loopback: one by one, and in segments (GSO and GRO).
//!
//! Knows sockets; must not know QUIC. Sending on loopback runs the receiver's side up to its socket's
//! queue, so that "sent" holds both; "received" is what reading them takes then.

use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use quinn_udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};

use crate::{Failure, Row, summary};

const SIZE: usize = 1200;
/// Datagrams of one segmented send.
const SEGMENTS: usize = 16;
/// Sends of a round; what is queued is read after each.
const SENDS: usize = 2_000;

pub(crate) fn datagrams(rounds: usize) -> Result<Vec<Row>, Failure> {
    let (sender, receiver) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    let plain = UdpSocket::bind("127.0.0.1:0")?;
    let from = UdpSocketState::new(UdpSockRef::from(&sender))?;
    let to = UdpSocketState::new(UdpSockRef::from(&receiver))?;
    sender.set_nonblocking(false)?;
    receiver.set_nonblocking(false)?;
    let mut figures: [(&str, Vec<f64>); 4] = [
        ("sent one by one", vec![]),
        ("received one by one", vec![]),
        ("sent in segments of 16 (GSO)", vec![]),
        ("received in segments (GRO)", vec![]),
    ];
    for _ in 0..rounds {
        let [out, back] = one_by_one(&sender, &plain)?;
        figures[0].1.push(out);
        figures[1].1.push(back);
        let [out, back] = segments((&from, &sender), (&to, &receiver))?;
        figures[2].1.push(out);
        figures[3].1.push(back);
    }
    let row = |(what, ns): (&str, Vec<f64>)| Row {
        what: format!("kernel: {what}"),
        ns: summary(ns),
        unit: "datagram of 1,200 bytes",
        rounds,
    };
    Ok(figures.into_iter().map(row).collect())
}

fn one_by_one(sender: &UdpSocket, receiver: &UdpSocket) -> Result<[f64; 2], Failure> {
    let (bytes, mut read, to) = ([0x5a; SIZE], [0; SIZE + 1], receiver.local_addr()?);
    let mut spent = [Duration::ZERO; 2];
    for _ in 0..SENDS {
        let begin = Instant::now();
        for _ in 0..SEGMENTS {
            sender.send_to(&bytes, to)?;
        }
        spent[0] += begin.elapsed();
        let begin = Instant::now();
        for _ in 0..SEGMENTS {
            if receiver.recv(&mut read)? != SIZE {
                return Err("a datagram of another length came".into());
            }
        }
        spent[1] += begin.elapsed();
    }
    Ok(spent.map(each))
}

fn segments(
    (from, sender): (&UdpSocketState, &UdpSocket),
    (to, receiver): (&UdpSocketState, &UdpSocket),
) -> Result<[f64; 2], Failure> {
    let bytes = [0x5a; SIZE * SEGMENTS];
    let mut read = vec![0; 65_536];
    let transmit = Transmit {
        destination: receiver.local_addr()?,
        ecn: None,
        contents: &bytes,
        segment_size: Some(SIZE),
        src_ip: None,
    };
    let mut spent = [Duration::ZERO; 2];
    for _ in 0..SENDS {
        let begin = Instant::now();
        from.send(UdpSockRef::from(sender), &transmit)?;
        spent[0] += begin.elapsed();
        let begin = Instant::now();
        let mut left = SEGMENTS;
        while left > 0 {
            let mut meta = [RecvMeta::default()];
            to.recv(UdpSockRef::from(receiver), &mut [IoSliceMut::new(&mut read)], &mut meta)?;
            left = left.saturating_sub(meta[0].len / SIZE);
        }
        spent[1] += begin.elapsed();
    }
    Ok(spent.map(each))
}

/// Nanoseconds per datagram of a round.
fn each(spent: Duration) -> f64 {
    spent.as_nanos() as f64 / (SENDS * SEGMENTS) as f64
}
