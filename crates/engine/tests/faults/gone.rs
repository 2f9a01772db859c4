//! A server that goes away while traffic is rehearsed: the load does not begin, and nobody waits for ever.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::thread::JoinHandle;

use serde_json::{Value, json};
use wiretrial_load::clock::Nanos;
use wiretrial_load::exchange::Told;
use wiretrial_load::plan::Plan;
use wiretrial_load::{Asking, Control, Refusal, RunError, ask};

use crate::outcome::run;

/// Shows that it is there on one connection, answers one request with this on the next, and goes away.
fn leaving(answer: &'static str) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    let server = std::thread::spawn(move || {
        drop(listener.accept().expect("the preflight"));
        let (mut connection, _) = listener.accept().expect("the rehearsal");
        drop(listener);
        let lines = BufReader::new(connection.try_clone().expect("a handle")).lines();
        let head = lines.map_while(Result::ok).take_while(|line| !line.is_empty());
        assert!(head.count() > 1, "a request");
        connection.write_all(answer.as_bytes()).expect("it listens");
    });
    (address, server)
}

#[test]
fn a_server_that_goes_away_before_the_load_is_not_waited_for_without_end() {
    let rows = [
        (
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            "refused",
            "before the load: the server went away: 0 of 1 connections stood after 300 ms: ",
        ),
        // Then another flow is due, and nobody is there.
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "truncated", "before the load: one: "),
    ];
    for (answer, class, says) in rows {
        let (address, server) = leaving(answer);
        let told = run(&of_two_flows(address));
        let Err(RunError::Refused(Refusal::Target { class: found, message })) = told else {
            panic!("{told:?}")
        };
        assert!(message.contains(says) && !message.contains('\n'), "{message}");
        assert_eq!(found.name(), class, "{message}");
        server.join().expect("it did as it should");
    }
}

/// Two flows of two requests each.
fn of_two_flows(address: SocketAddr) -> Value {
    let route = |name: &str| json!({"name": name, "method": "GET", "target": [{"text": "/"}]});
    let flow = |name: &str| json!({"name": name, "steps": [{"route": 0}, {"route": 1}]});
    json!({
        "schema": "wiretrial-plan", "version": 1,
        "target": {"url": format!("http://{address}/")},
        "load": {"connections": 1},
        "stop": {"sessions": 10},
        "phases": {"connect_ns": 300_000_000_u64},
        "traffic": {
            "routes": [route("one"), route("two")],
            "flows": [flow("first"), flow("second")],
        },
    })
}

#[test]
fn a_server_that_goes_away_while_it_is_asked_is_not_waited_for_until_the_time_limit() {
    let answer = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let (address, server) = leaving(answer);
    let plan = Plan::from_json(&of_two_flows(address).to_string()).expect("a plan");
    let asking = Asking {
        sessions: 1,
        connections: 1,
        most_body: 100,
        // Longer than any test may take.
        time_limit: Nanos::from_secs(3600),
        is_patient: true,
    };
    let mut outcomes = Vec::new();
    let told = ask(&plan, &asking, &Control::default(), |told| {
        if let Told::Exchange(one) = told {
            outcomes.push(one.outcome.clone());
        }
        Ok(())
    });
    let Err(RunError::Refused(Refusal::Target { message, .. })) = told else { panic!("{told:?}") };
    assert!(message.contains("the server went away: 0 of 1 connections stood"), "{message}");
    assert_eq!(outcomes, ["ok"], "what came is told");
    server.join().expect("it did as it should");
}
