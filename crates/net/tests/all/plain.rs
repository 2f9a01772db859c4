//! Plain connections: what a caller sees of connect, send, receive and close.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use crate::common::{
    CLIENT, LISTENER, SERVER, await_ready, comes, driver, exchange, loopback, pair, pair_with,
    pattern, small_driver, spec,
};
use rustix::net::{AddressFamily, SocketType};
use wiretrial_net::{ConnectSpec, Fill, Key, NetErrorClass, Transport, raise_descriptor_limit};

#[test]
fn bytes_arrive_and_come_back() {
    let mut driver = driver();
    let (client, server) = pair(&mut driver);
    let (mut client, mut server) = (Transport::plain(client), Transport::plain(server));
    client.out().extend_from_slice(b"there");
    server.out().extend_from_slice(b"and back");
    let (at_client, at_server) = exchange(&mut driver, &mut client, &mut server, |c, s, _, _| {
        c.bytes.len() == 8 && s.bytes.len() == 5
    });
    assert_eq!(at_client.bytes, b"and back");
    assert_eq!(at_server.bytes, b"there");
    assert_eq!(client.bytes(), (5, 8));
    assert_eq!(server.bytes(), (8, 5));
    assert!(client.is_established());
    assert_eq!(client.tls_description(), None);
}

#[test]
fn readiness_names_the_socket_and_what_is_possible() {
    let mut driver = driver();
    let listener = driver.listen(LISTENER, loopback(), false).expect("listen");
    let mut client = driver.connect(CLIENT, &spec(listener.local_addr())).expect("connect");
    let waiting = await_ready(&mut driver, |ready| ready.key == LISTENER);
    assert!(waiting.readable);
    let connected = await_ready(&mut driver, |ready| ready.key == CLIENT);
    assert!(connected.connected && !connected.readable && !connected.writable);
    driver.connect_result(&mut client).expect("connected");
    let (mut server, _) = driver.accept(&listener, SERVER).expect("accept").expect("one");
    assert!(driver.accept(&listener, SERVER).expect("accept").is_none());
    // A connected socket with nothing to do is silent.
    assert!(!comes(&mut driver, |_| true));
    server.out.push(1);
    assert!(driver.flush(&mut server).expect("flush").done);
    let readable = await_ready(&mut driver, |ready| ready.key == CLIENT);
    assert!(readable.readable && !readable.writable && !readable.connected && !readable.hangup);
}

#[test]
fn what_the_codec_left_is_put_before_what_comes() {
    let mut driver = driver();
    let (mut client, mut server) = pair(&mut driver);
    client.out.extend_from_slice(b"llo");
    driver.flush(&mut client).expect("flush");
    await_ready(&mut driver, |ready| ready.key == SERVER && ready.readable);
    let mut carry = b"he".to_vec();
    match driver.fill(&mut server, &mut carry) {
        Fill::Data(data, new, drained) => {
            assert_eq!((&*data, new, drained), (&b"hello"[..], 3, true));
        }
        other => panic!("{other:?}"),
    }
    assert!(carry.is_empty());
    carry.extend_from_slice(b"kept");
    assert!(matches!(driver.fill(&mut server, &mut carry), Fill::WouldBlock));
    assert_eq!(carry, b"kept");
    driver.close(client);
    await_ready(&mut driver, |ready| ready.key == SERVER && ready.readable);
    assert!(matches!(driver.fill(&mut server, &mut carry), Fill::End));
    assert_eq!(carry, b"kept");
}

#[test]
fn a_carry_larger_than_the_buffer_makes_it_grow() {
    let mut driver = small_driver();
    let (mut client, mut server) = pair(&mut driver);
    client.out.extend_from_slice(b"tail");
    driver.flush(&mut client).expect("flush");
    await_ready(&mut driver, |ready| ready.key == SERVER && ready.readable);
    let mut carry = pattern(100_000);
    let Fill::Data(data, 4, true) = driver.fill(&mut server, &mut carry) else {
        panic!("four bytes wait");
    };
    assert_eq!(data[..100_000], pattern(100_000));
    assert_eq!(&data[100_000..], b"tail");
}

#[test]
fn a_full_read_is_not_called_drained() {
    let mut driver = small_driver();
    let (mut client, mut server) = pair(&mut driver);
    client.out = pattern(5000);
    assert!(driver.flush(&mut client).expect("flush").done);
    await_ready(&mut driver, |ready| ready.key == SERVER && ready.readable);
    let Fill::Data(_, 4096, false) = driver.fill(&mut server, &mut Vec::new()) else {
        panic!("the buffer's size, and more");
    };
    let Fill::Data(_, 904, true) = driver.fill(&mut server, &mut Vec::new()) else {
        panic!("the rest");
    };
}

#[test]
fn nobody_listening_is_refused() {
    let mut driver = driver();
    // Bound, so that nobody else gets the port, but not listening.
    let bound = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).expect("socket");
    rustix::net::bind(&bound, &loopback()).expect("bind");
    let peer = rustix::net::getsockname(&bound).expect("named").try_into().expect("IPv4");
    let mut client = driver.connect(CLIENT, &spec(peer)).expect("the answer comes later");
    await_ready(&mut driver, |ready| ready.key == CLIENT && ready.connected);
    let error = driver.connect_result(&mut client).expect_err("refused");
    assert_eq!(error.class(), NetErrorClass::Refused);
}

#[test]
fn abort_is_a_reset_for_the_peer() {
    let mut driver = driver();
    let (client, mut server) = pair(&mut driver);
    driver.abort(client);
    let ready = await_ready(&mut driver, |ready| ready.key == SERVER);
    assert!(ready.hangup && ready.readable);
    match driver.fill(&mut server, &mut Vec::new()) {
        Fill::Failed(error) => assert_eq!(error.class(), NetErrorClass::Reset),
        other => panic!("{other:?}"),
    }
}

#[test]
fn writing_to_a_closed_peer_is_a_reset() {
    let mut driver = driver();
    let (client, mut server) = pair(&mut driver);
    driver.close(client);
    for _ in 0..1000 {
        server.out.push(0);
        if let Err(error) = driver.flush(&mut server) {
            assert_eq!(error.class(), NetErrorClass::Reset);
            return;
        }
        driver.wait(Some(Duration::from_millis(1))).expect("wait");
        while driver.next().is_some() {}
    }
    panic!("the kernel went on taking bytes for a closed peer");
}

#[test]
fn one_direction_closes_and_the_other_goes_on() {
    let mut driver = driver();
    let (client, server) = pair(&mut driver);
    let (mut client, mut server) = (Transport::plain(client), Transport::plain(server));
    // More than the kernel takes at once.
    let message = pattern(32 * 1024 * 1024);
    client.out().extend_from_slice(&message);
    // Asked for at once: FIN must not overtake what still waits in `out`.
    client.shutdown_write(&mut driver);
    let (_, at_server) = exchange(&mut driver, &mut client, &mut server, |_, s, _, _| s.ended);
    assert!(at_server.bytes == message);
    server.out().extend_from_slice(b"still here");
    let (at_client, _) =
        exchange(&mut driver, &mut client, &mut server, |c, _, _, _| c.bytes.len() == 10);
    assert_eq!(at_client.bytes, b"still here");
    assert!(!at_client.ended);
}

#[test]
fn an_end_asked_for_twice_no_longer_wakes() {
    let mut driver = driver();
    let (client, mut server) = pair(&mut driver);
    driver.close(client);
    await_ready(&mut driver, |ready| ready.key == SERVER && ready.readable);
    assert!(matches!(driver.fill(&mut server, &mut Vec::new()), Fill::End));
    assert!(matches!(driver.fill(&mut server, &mut Vec::new()), Fill::End));
    assert!(!comes(&mut driver, |ready| ready.key == SERVER));
}

#[test]
fn stale_readiness_carries_the_old_generation() {
    let mut driver = driver();
    let (mut client, server) = pair(&mut driver);
    client.out.push(1);
    driver.flush(&mut client).expect("flush");
    driver.wait(Some(Duration::from_secs(1))).expect("wait");
    // The batch holds the server's readiness; it closes, and its slot and
    // most likely its descriptor are used again before the batch is read.
    driver.close(server);
    let listener = driver.listen(LISTENER, loopback(), false).expect("listen");
    let reused = Key { generation: SERVER.generation + 1, ..SERVER };
    let _new = driver.connect(reused, &spec(listener.local_addr())).expect("connect");
    let stale = driver.next().expect("the old readiness");
    assert_eq!(stale.key, SERVER);
    assert_ne!(stale.key, reused);
    let fresh = await_ready(&mut driver, |ready| ready.key.slot == SERVER.slot);
    assert_eq!(fresh.key, reused);
}

#[test]
fn a_peer_that_does_not_read_holds_the_rest_back() {
    let mut driver = driver();
    let (client, server) = pair(&mut driver);
    let (mut client, mut server) = (Transport::plain(client), Transport::plain(server));
    let message = pattern(32 * 1024 * 1024);
    client.out().extend_from_slice(&message);
    let first = client.flush(&mut driver).expect("flush");
    assert!(!first.done && first.bytes > 0 && first.bytes < message.len());
    // The kernel may move some of it to the peer's buffer, but never all.
    while comes(&mut driver, |ready| ready.key == CLIENT && ready.writable) {
        assert!(!client.flush(&mut driver).expect("flush").done);
    }
    assert!(client.socket().pending() > 0);
    // From here on only readiness moves it.
    let mut got = Vec::new();
    while got.len() < message.len() {
        let ready = await_ready(&mut driver, |ready| ready.readable || ready.writable);
        if ready.key == CLIENT {
            assert!(ready.writable && !ready.readable);
            client.flush(&mut driver).expect("flush");
        } else if let Fill::Data(data, ..) = server.fill(&mut driver, &mut Vec::new()) {
            got.extend_from_slice(data);
        }
    }
    assert!(got == message);
    assert_eq!(client.socket().pending(), 0);
    // Written off: no more calls, and the large buffer is given back.
    assert!(!comes(&mut driver, |ready| ready.key == CLIENT && ready.writable));
    assert!(client.out().capacity() <= 64 * 1024);
}

#[test]
fn a_small_write_of_which_the_kernel_takes_a_part_is_finished_later() {
    // No divisor of what the kernel puts together: when its buffer is full, one write is cut.
    const WRITE: usize = 4093;
    let mut driver = driver();
    let (client, server) = pair(&mut driver);
    let (mut client, mut server) = (Transport::plain(client), Transport::plain(server));
    let message = pattern(WRITE * 4000);
    let mut writes = message.chunks(WRITE);
    for write in writes.by_ref() {
        client.out().extend_from_slice(write);
        let done = client.flush(&mut driver).expect("flush").done;
        driver.wait(Some(Duration::ZERO)).expect("wait");
        while driver.next().is_some() {}
        if !done {
            break;
        }
    }
    for write in writes {
        client.out().extend_from_slice(write);
    }
    let whole = message.len();
    let (_, at_server) = exchange(&mut driver, &mut client, &mut server, |_, server, _, _| {
        server.bytes.len() >= whole
    });
    let got = at_server.bytes;
    assert!(got == message, "{} of {whole} bytes, or others", got.len());
}

#[test]
fn paused_reads_are_silent_until_resumed() {
    let mut driver = driver();
    let (mut client, mut server) = pair(&mut driver);
    driver.pause_reads(&mut server);
    client.out.push(1);
    driver.flush(&mut client).expect("flush");
    assert!(!comes(&mut driver, |ready| ready.key == SERVER));
    driver.resume_reads(&mut server);
    await_ready(&mut driver, |ready| ready.key == SERVER && ready.readable);
}

#[test]
fn a_paused_listener_is_silent_until_it_goes_on() {
    let mut driver = driver();
    let listener = driver.listen(LISTENER, loopback(), false).expect("listen");
    driver.set_accepting(&listener, false).expect("pause");
    let _client = driver.connect(CLIENT, &spec(listener.local_addr())).expect("connect");
    assert!(!comes(&mut driver, |ready| ready.key == LISTENER));
    driver.set_accepting(&listener, true).expect("go on");
    await_ready(&mut driver, |ready| ready.key == LISTENER && ready.readable);
}

#[test]
fn more_connections_than_buffers_are_all_read_from() {
    const MANY: u32 = 700;
    raise_descriptor_limit();
    let mut driver = driver();
    let listener = driver.listen(LISTENER, loopback(), false).expect("listen");
    let mut ends = Vec::new();
    for slot in 0..MANY {
        let key = |slot| Key { slot, generation: 1 };
        let spec = spec(listener.local_addr());
        let mut client = driver.connect(key(10 + slot), &spec).expect("connect");
        await_ready(&mut driver, |ready| ready.key == key(10 + slot) && ready.connected);
        driver.connect_result(&mut client).expect("connected");
        let server = driver.accept(&listener, key(10 + MANY + slot)).expect("accept");
        ends.push((client, server.expect("one waits").0));
    }
    for round in 1..4_u8 {
        for (client, _) in &mut ends {
            client.out.push(round);
            assert!(driver.flush(client).expect("flush").done);
        }
        let mut read = 0;
        while read < MANY {
            let ready = await_ready(&mut driver, |ready| ready.readable);
            let mut told = Some(ready);
            while let Some(ready) = told.or_else(|| driver.next()) {
                told = None;
                let at = ready.key.slot.checked_sub(10 + MANY).expect("a server's end");
                let (_, server) = &mut ends[at as usize];
                if let Fill::Data(data, 1, _) = driver.fill(server, &mut Vec::new()) {
                    assert_eq!(data, [round]);
                    read += 1;
                }
            }
        }
    }
}

#[test]
fn the_source_address_is_the_one_asked_for() {
    let mut driver = driver();
    let listener = driver.listen(LISTENER, loopback(), false).expect("listen");
    let source = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 7));
    let spec = ConnectSpec { source: Some(source), ..spec(listener.local_addr()) };
    let (client, _server) = pair_with(&mut driver, &spec, &listener);
    assert_eq!(client.local_addr().expect("an address").ip(), source);
}

#[test]
fn the_source_may_be_of_the_newer_family() {
    let mut driver = driver();
    let Ok(listener) = driver.listen(LISTENER, (Ipv6Addr::LOCALHOST, 0).into(), false) else {
        eprintln!("not checked: this machine has no IPv6");
        return;
    };
    let source = Some(IpAddr::V6(Ipv6Addr::LOCALHOST));
    let spec = ConnectSpec { source, ..spec(listener.local_addr()) };
    let (client, _server) = pair_with(&mut driver, &spec, &listener);
    assert_eq!(client.local_addr().expect("an address").ip(), Ipv6Addr::LOCALHOST);
}

#[test]
fn a_source_that_is_not_ours_is_named() {
    let mut driver = driver();
    // Kept for documentation, so no machine has it.
    let source = Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)));
    let spec = ConnectSpec { source, ..spec(SocketAddr::from((Ipv4Addr::LOCALHOST, 9))) };
    let error = driver.connect(CLIENT, &spec).expect_err("not ours");
    assert_eq!(error.class(), NetErrorClass::Other);
    assert!(error.to_string().contains("192.0.2.1"), "{error}");
}

#[test]
fn an_address_in_use_is_named() {
    let mut driver = driver();
    let listener = driver.listen(LISTENER, loopback(), false).expect("listen");
    let address = listener.local_addr();
    let error = driver.listen(LISTENER, address, false).expect_err("taken");
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}

#[test]
fn listeners_share_a_port_when_asked_to() {
    let mut driver = driver();
    let first = driver.listen(LISTENER, loopback(), true).expect("listen");
    let second = Key { slot: 9, generation: 0 };
    let second = driver.listen(second, first.local_addr(), true).expect("listen too");
    assert_eq!(first.local_addr(), second.local_addr());
}

#[test]
fn the_kernels_account_agrees_with_ours() {
    let mut driver = driver();
    let (client, server) = pair(&mut driver);
    let (mut client, mut server) = (Transport::plain(client), Transport::plain(server));
    client.out().extend_from_slice(&pattern(100_000));
    server.out().extend_from_slice(&pattern(7));
    exchange(&mut driver, &mut client, &mut server, |c, s, _, _| {
        c.bytes.len() == 7 && s.bytes.len() == 100_000
    });
    let info = client.socket().tcp_info().expect("told");
    assert_eq!(info.bytes_received, 7);
    // The kernel counts SYN as a byte that was acknowledged.
    assert!((1..=100_001).contains(&info.bytes_acked), "{info:?}");
    assert!(info.segments_out > 0 && info.segments_in > 0 && info.rtt_us > 0, "{info:?}");
    assert!(info.min_rtt_us <= info.rtt_us && info.unsent_bytes == 0, "{info:?}");
}
