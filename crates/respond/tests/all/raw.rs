//! The raw echo, several threads, and how a server starts and stops.

use std::net::{Shutdown, SocketAddr, TcpListener};

use crate::common::{Client, End, GET_MESSAGE, message_answer, pattern, plan, server};
use wiretrial_respond::{Congestion, RespondError, Script, ServerPlan, start};

#[test]
fn bytes_come_back() {
    let server = server(Script::default());
    let mut client = Client::tcp(&server);
    for length in [1, 64, 10_000] {
        let bytes = pattern(length);
        client.send(&bytes);
        client.expect(&bytes);
    }
    client.send(b"last");
    client.0.shutdown(Shutdown::Write).unwrap();
    client.expect(b"last");
    client.expect_end(End::Fin);
}

#[test]
fn connections_are_dealt_to_all_threads() {
    let mut plan = plan(Script::default());
    plan.threads = 3;
    let server = start(plan).unwrap();
    assert_ne!(server.addresses().http[0].port(), 0);
    let mut clients: Vec<Client> = (0..60).map(|_| Client::http(&server)).collect();
    for client in &mut clients {
        client.send(GET_MESSAGE);
    }
    for client in &mut clients {
        client.expect(message_answer());
    }
    let stats = server.stats();
    assert_eq!((stats.accepted, stats.open, stats.requests), (60, 60, 60));
    drop(clients);
    let stats = server.stop().unwrap();
    assert_eq!((stats.accepted, stats.open), (60, 0));
    assert_eq!(stats.received, 60 * GET_MESSAGE.len() as u64);
    assert_eq!(stats.sent, 60 * message_answer().len() as u64);
}

#[test]
fn a_stopped_server_is_gone() {
    let server = server(Script::default());
    let address = server.addresses().tcp[0];
    let mut client = Client::tcp(&server);
    client.send(b"x");
    client.expect(b"x");
    server.stop().unwrap();
    client.expect_end(End::Fin);
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn what_cannot_be_served_is_refused() {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    assert_eq!(start(ServerPlan::default()).err(), Some(RespondError::NoAddress));
    let without_threads = ServerPlan { http: vec![any], threads: 0, ..ServerPlan::default() };
    assert_eq!(start(without_threads).err(), Some(RespondError::NoThreads));
    let without_certificate = ServerPlan { https: vec![any], ..ServerPlan::default() };
    assert_eq!(start(without_certificate).err(), Some(RespondError::NoCertificate));
    let taken = TcpListener::bind(any).unwrap().local_addr().unwrap();
    let holder = TcpListener::bind(taken).unwrap();
    let error = start(ServerPlan { http: vec![taken], ..ServerPlan::default() }).unwrap_err();
    assert!(matches!(error, RespondError::Listen(_)), "{error}");
    assert!(error.to_string().contains(&taken.to_string()), "{error}");
    drop(holder);
    let pinned = ServerPlan { http: vec![any], cpus: vec![100_000], ..ServerPlan::default() };
    assert!(matches!(start(pinned), Err(RespondError::Net(_))));
}

#[test]
fn answers_go_under_the_congestion_control_that_was_asked_for_or_none_go() {
    for wanted in [Congestion::Cubic, Congestion::NewReno, Congestion::Bbr] {
        let asked = ServerPlan { congestion: Some(wanted), ..plan(Script::default()) };
        if let Err(refusal) = wanted.check_for_tcp() {
            assert_eq!(start(asked).err(), Some(RespondError::Net(refusal)));
            continue;
        }
        let server = start(asked).unwrap();
        let mut client = Client::tcp(&server);
        let bytes = pattern(10_000);
        client.send(&bytes);
        client.expect(&bytes);
        server.stop().unwrap();
    }
}

/// Listeners that share a port share its connections too: each of two servers would be given some.
#[test]
fn a_port_of_another_server_is_refused_however_many_threads_either_has() {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let plan = |address, threads| ServerPlan { tcp: vec![address], threads, ..Default::default() };
    for (first, second) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        let server = start(plan(any, first)).unwrap();
        let address = server.addresses().tcp[0];
        let error = start(plan(address, second)).unwrap_err();
        assert!(matches!(error, RespondError::Listen(_)), "{first} and {second}: {error}");
        server.stop().unwrap();
        start(plan(address, second)).unwrap().stop().unwrap();
    }
}
