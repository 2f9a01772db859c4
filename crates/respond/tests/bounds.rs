//! Memory stays bounded whatever a client does. Alone in its process, because it reads the
//! memory of the process.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod common;

use std::io::{ErrorKind, Write};
use std::thread;
use std::time::Duration;

use common::{Client, GET_MESSAGE, masked, message_answer, server};
use wiretrial_net::machine::{peak_rss_bytes, process_cpu};
use wiretrial_respond::Script;

const MIB: usize = 1024 * 1024;

/// One test, so that nothing else of this process allocates meanwhile.
#[test]
fn memory_is_bounded() {
    let server = server(Script::default());
    let mut client = Client::websocket(&server);
    // Whatever is allocated once is allocated now: all buffers of the poller have been in use.
    for _ in 0..8 {
        client.send(masked(0x82, &vec![7; MIB]));
        client.take(MIB + 10);
    }

    let before = peak_rss_bytes();
    a_large_message_is_passed_on_as_it_comes(&mut client);
    who_does_not_read_is_not_read_from(Client::tcp(&server));
    who_does_not_read_is_not_written_to(Client::http(&server));
    who_asks_without_end_is_not_answered_without_end(Client::http(&server));
    let grown = peak_rss_bytes() - before;
    // What a ring has received in one turn and nobody has read: its buffers, at most 4 MiB.
    assert!(grown < 8 * MIB as u64, "{grown} bytes");

    // The others were served all the while, and are now.
    let mut other = Client::http(&server);
    other.send(GET_MESSAGE);
    other.expect(message_answer());
}

/// 100 MB in one frame.
fn a_large_message_is_passed_on_as_it_comes(client: &mut Client) {
    const LENGTH: usize = 100_000_000;
    let header = |mask: u8| [&[0x82, mask | 0x7f], &(LENGTH as u64).to_be_bytes()[..]].concat();
    // The bytes repeat after 64, and a mask of zeros is a mask.
    let block: Vec<u8> = (0..64_064).map(|at| (at % 64) as u8).collect();
    let mut writer = client.0.try_clone().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            writer.write_all(&[header(0x80), vec![0; 4]].concat()).unwrap();
            let mut left = LENGTH;
            while left > 0 {
                let piece = left.min(64_000);
                writer.write_all(&block[..piece]).unwrap();
                left -= piece;
            }
        });
        client.expect(header(0));
        let mut buffer = vec![0; 64_000];
        let mut at = 0;
        while at < LENGTH {
            let most = buffer.len().min(LENGTH - at);
            let count = client.read(&mut buffer[..most]).unwrap();
            assert!(count > 0, "ended at {at}");
            assert!(buffer[..count] == block[at % 64..][..count], "differs after {at}");
            at += count;
        }
    });
}

/// An echo of what is never read would grow without bound.
fn who_does_not_read_is_not_read_from(mut client: Client) {
    const MOST: usize = 100 * MIB;
    client.0.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    let block = vec![7; 64 * 1024];
    let mut sent = 0;
    while sent < MOST {
        match client.0.write(&block) {
            Ok(count) => sent += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert!(sent < MOST, "the server took all of it");
    // And when it does read, nothing is missing.
    client.0.shutdown(std::net::Shutdown::Write).unwrap();
    let mut buffer = vec![0; 64 * 1024];
    let mut got = 0;
    loop {
        match client.read(&mut buffer).unwrap() {
            0 => break,
            count => got += count,
        }
    }
    assert_eq!(got, sent);
}

/// A long answer is made no faster than it is read.
fn who_does_not_read_is_not_written_to(mut client: Client) {
    for _ in 0..10 {
        client.send("GET /bytes/1000000000000 HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    client.take(1000);
    // It fills the kernel's buffers, and then it has nothing to do.
    thread::park_timeout(Duration::from_millis(300));
    let (user, system) = process_cpu();
    thread::park_timeout(Duration::from_millis(400));
    let (user_after, system_after) = process_cpu();
    let burnt = user_after + system_after - user - system;
    assert!(burnt < 100_000_000, "{burnt} ns of CPU for nothing");
    for _ in 0..10 {
        client.take(MIB);
    }
}

/// Small requests for larger answers, and nobody who reads them.
fn who_asks_without_end_is_not_answered_without_end(mut client: Client) {
    const MOST: usize = 100 * MIB;
    const SHORT: &str = "GET / HTTP/1.1\r\nHost:\r\n\r\n";
    client.0.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    let block = SHORT.repeat(10_000);
    let mut sent = 0;
    while sent < MOST {
        match client.0.write(&block.as_bytes()[sent % SHORT.len()..]) {
            Ok(count) => sent += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert!(sent < MOST, "the server took all of it");
    let mut one = Client::connect(client.0.peer_addr().unwrap());
    one.send(SHORT);
    one.0.shutdown(std::net::Shutdown::Write).unwrap();
    let (answer, _) = one.rest();
    for _ in 0..sent / SHORT.len() {
        client.expect(&answer);
    }
}
