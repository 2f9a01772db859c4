//! Asking a server that does wrong: what is told of a reply that is no whole one.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use wiretrial_load::Asking;
use wiretrial_load::clock::Nanos;
use wiretrial_load::exchange::{End, Exchange};

use crate::exchanges;
use crate::scripted::Scripted;
use crate::scripted::Step::{self, Finish, Read, Send, Serve};
use crate::speech::{Speech, http};

/// `{"n":777…}` of 306 bytes, by gzip.
const GZIP: &str = "H4sIAAAAAAACA6tWylOyMh8FRINaADrOcesyAQAA";

fn asking(sessions: u32, time_limit: Nanos) -> Asking {
    Asking { sessions, connections: 1, most_body: 100, time_limit, is_patient: true }
}

/// What comes of asking a server so; the first connection is the one that shows that it is there.
fn asked(scripts: Vec<Vec<Step>>, asking: &Asking, change: fn(&mut Value)) -> (Vec<Exchange>, End) {
    let scripts = [vec![vec![]], scripts].concat();
    let server = Scripted::start(Speech::Http, None, scripts);
    let mut plan = json!({
        "schema": "wiretrial-plan", "version": 1,
        "target": {
            "url": format!("http://{}/it", server.address()),
            "message": {"source": {"from": "sequence", "bytes": 20}},
            "expect": {"content": {"is": "echo"}},
        },
        "load": {"connections": 1},
        "stop": {"requests": 1},
        "phases": {"timeout_ns": 30_000_000_000_u64, "connect_ns": 30_000_000_000_u64},
    });
    change(&mut plan);
    exchanges::of(&plan, asking)
}

fn content(exchange: &Exchange) -> String {
    let bytes = BASE64_STANDARD.decode(&exchange.body).expect("base64");
    String::from_utf8(bytes).expect("text")
}

const PATIENT: Nanos = Nanos::from_secs(60);

#[test]
fn a_reply_that_breaks_off_is_told_as_far_as_it_came() {
    let half = b"HTTP/1.1 200 OK\r\nServer: half\r\nContent-Length: 20\r\n\r\n0123456789".to_vec();
    let scripts = vec![vec![Read, Send(half), Finish], vec![Serve]];
    let (exchanges, end) = asked(scripts, &asking(2, PATIENT), |_| {});
    assert_eq!(end, End { asked: 2, failed: 1, left: 0 });
    let [cut, whole] = &exchanges[..] else { panic!("{exchanges:?}") };
    assert_eq!((cut.outcome.as_str(), cut.status, cut.is_cut), ("truncated", Some(200), true));
    assert_eq!((content(cut).as_str(), cut.body_bytes, cut.service_ns), ("0123456789", 10, None));
    assert_eq!(cut.headers[0], ("Server".to_owned(), "half".to_owned()));
    assert!(cut.fault.is_some());
    assert_eq!((whole.outcome.as_str(), &whole.body), ("ok", &whole.request_body), "an echo");
    assert_eq!((&whole.flow, whole.route.as_str()), (&None, "POST /it"));
}

#[test]
fn a_server_that_stalls_fails_one_exchange_by_its_deadline_and_all_by_the_limit() {
    let scripts = vec![vec![Read], vec![Serve]];
    let (exchanges, end) = asked(scripts, &asking(2, PATIENT), |plan| {
        plan["phases"]["timeout_ns"] = json!(200_000_000);
    });
    assert_eq!(end, End { asked: 2, failed: 1, left: 0 });
    assert_eq!(exchanges[0].outcome, "timeout");
    assert_eq!((exchanges[0].status, exchanges[1].outcome.as_str()), (None, "ok"));

    let half = b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n01234".to_vec();
    let scripts = vec![vec![Read, Send(half)]];
    let (exchanges, end) = asked(scripts, &asking(3, Nanos::from_millis(300)), |_| {});
    assert_eq!(end, End { asked: 1, failed: 1, left: 3 });
    let stalled = &exchanges[0];
    assert_eq!((stalled.outcome.as_str(), stalled.status), ("timeout", Some(200)));
    assert_eq!((content(stalled).as_str(), stalled.is_cut), ("01234", true));
}

#[test]
fn content_is_told_without_its_coding_and_only_so_much_of_it() {
    let packed = BASE64_STANDARD.decode(GZIP).expect("base64");
    let gzip = http("200 OK", &["Content-Encoding: gzip"], &packed);
    let long = http("200 OK", &["Connection: close"], &[b'y'; 400]);
    let scripts = vec![vec![Read, Send(gzip), Read, Send(long)], vec![Serve]];
    let (exchanges, end) = asked(scripts, &asking(3, PATIENT), |plan| {
        plan["target"]["expect"] = json!({"content": {"is": "status"}});
    });
    assert_eq!((end.asked, end.failed), (3, 0), "{exchanges:?}");
    let [packed, long, _] = &exchanges[..] else { panic!("{exchanges:?}") };
    assert_eq!((packed.body_bytes, packed.is_cut), (306, true));
    assert!(content(packed).starts_with("{\"n\":777") && content(packed).len() == 100);
    assert_eq!((long.body_bytes, content(long).len(), long.is_cut), (400, 100, true));
}

#[test]
fn what_is_wrong_is_told_of_one_message_too() {
    let other = http("200 OK", &[], b"something else      ");
    let error = http("503 Service Unavailable", &[], b"full");
    let scripts = vec![vec![Read, Send(other), Read, Send(error), Serve]];
    let (exchanges, end) = asked(scripts, &asking(3, PATIENT), |_| {});
    assert_eq!((end.asked, end.failed), (3, 2));
    let told = exchanges.iter().map(|it| (it.outcome.as_str(), it.fault.as_deref()));
    let [mismatch, status, right] = &told.collect::<Vec<_>>()[..] else { panic!("{exchanges:?}") };
    assert!(mismatch.0 == "mismatch" && mismatch.1.is_some_and(|it| it.contains("something")));
    assert_eq!(*status, ("status", Some("status 503, not 200: 'full'")));
    assert_eq!(*right, ("ok", None));
}
