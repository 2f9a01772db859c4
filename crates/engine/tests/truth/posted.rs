//! Events that are posted to another server than the one that tells them: what is sent along, and what becomes of
//! events that are not confirmed.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use wiretrial_proto::sse::NumberedEvent;
use wiretrial_respond::Script;

use crate::outcome::checked;
use crate::published::{plan, published};
use crate::rig::Rig;

/// What becomes of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It is passed on, and confirmed.
    Taken,
    /// It is not passed on, and confirmed all the same.
    Swallowed,
    /// It is not passed on, and refused.
    Lost,
    /// It is passed on, and refused all the same.
    Denied,
    /// It is passed on, and the connection ends in place of an answer.
    Unanswered,
}

impl Fate {
    fn of(number: u64) -> Self {
        match number % 10 {
            1 | 6 => Self::Lost,
            3 => Self::Denied,
            8 => Self::Unanswered,
            _ => Self::Taken,
        }
    }
}

const fn is_swallowed(number: u64) -> bool {
    number % 5 == 2
}

/// A server that passes on what is posted to it, with a port of its own.
struct Relay {
    address: SocketAddr,
    /// Of all requests.
    heads: Arc<Mutex<Vec<String>>>,
}

impl Relay {
    /// One that passes events on to where this plan posts them, which is changed into one that posts to it.
    fn before(plan: &mut Value, fate: fn(u64) -> Fate) -> Self {
        let url = plan["publish"]["url"].as_str().expect("a URL");
        let behind = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/publish"));
        let behind: SocketAddr = behind.expect("without TLS").parse().expect("an address");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&heads);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let seen = Arc::clone(&seen);
                // A client that has left shows in what its events have come to.
                std::thread::spawn(move || relay(stream, behind, fate, &seen));
            }
        });
        plan["publish"]["url"] = json!(format!("http://{address}/elsewhere"));
        Self { address, heads }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Answers one client.
fn relay(
    mut stream: TcpStream,
    behind: SocketAddr,
    fate: fn(u64) -> Fate,
    seen: &Mutex<Vec<String>>,
) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        let length = lines.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let mut event = vec![0; length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)];
        seen.lock().unwrap_or_else(PoisonError::into_inner).push(head);
        reader.read_exact(&mut event)?;
        let number = NumberedEvent::read(&event).map_or(0, |event| event.number);
        // The first one proves that events can be posted, and nobody is to hear it.
        let is_proof = number == u64::MAX;
        let fate = if is_proof { Fate::Taken } else { fate(number) };
        if !is_proof && !matches!(fate, Fate::Lost | Fate::Swallowed) {
            pass_on(&event, behind)?;
        }
        match fate {
            Fate::Taken | Fate::Swallowed => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")?;
            }
            Fate::Lost | Fate::Denied => {
                stream.write_all(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")?;
            }
            Fate::Unanswered => return Ok(()),
        }
    }
}

/// Publishes an event where it is heard.
fn pass_on(event: &[u8], behind: SocketAddr) -> io::Result<()> {
    let mut stream = TcpStream::connect(behind)?;
    let length = event.len();
    let head = format!(
        "POST /publish HTTP/1.1\r\nHost: {behind}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), event].concat())?;
    stream.read_to_end(&mut Vec::new()).map(|_| ())
}

#[test]
fn copies_of_events_that_were_not_confirmed_are_counted_apart() {
    for scheme in ["http", "ws", "http+poll"] {
        let rig = Rig::new(Script::default());
        let mut plan = plan(&rig, scheme, 1_200);
        let _relay = Relay::before(&mut plan, Fate::of);
        let outcome = checked(&plan);
        let (counters, published) = (&outcome.summary.counters, published(&outcome));
        let posted = &published.counters;
        let fates = || (0..posted.sent).map(Fate::of);
        let taken = fates().filter(|fate| *fate == Fate::Taken).count() as u64;
        let lost = fates().filter(|fate| *fate == Fate::Lost).count() as u64;
        let failed: u64 = posted.errors.values().sum();
        assert!(posted.sent > 10, "{scheme}: {posted:?}");
        assert_eq!((posted.ok, failed), (taken, posted.sent - taken), "{scheme}: {posted:?}");
        // What has come is right, whether it was confirmed or not.
        assert_eq!(counters.ok, (posted.sent - lost) * published.receivers, "{scheme}");
        assert_eq!(counters.errors.values().sum::<u64>(), 0, "{scheme}: {:?}", counters.errors);
        let apart = (published.undelivered, published.unconfirmed);
        assert_eq!(apart, (0, lost * published.receivers), "{scheme}: {published:?}");
    }
}

#[test]
fn confirmed_events_that_do_not_come_are_missing() {
    let rig = Rig::new(Script::default());
    let mut plan = plan(&rig, "http", 900);
    let _relay =
        Relay::before(
            &mut plan,
            |number| {
                if is_swallowed(number) { Fate::Swallowed } else { Fate::Taken }
            },
        );
    let outcome = checked(&plan);
    let (published, errors) = (published(&outcome), outcome.errors());
    let (sent, receivers) = (published.counters.sent, published.receivers);
    assert!(sent > 10 && published.counters.ok == sent, "{published:?}");
    let swallowed = (0..sent).filter(|number| is_swallowed(*number)).count() as u64;
    // Nobody knows of the last one, if no other event has come behind it.
    let noticed = swallowed - u64::from(is_swallowed(sent - 1));
    assert_eq!(errors.get("missing"), Some(&(noticed * receivers)), "{errors:?}");
    let apart = (published.undelivered, published.unconfirmed);
    assert_eq!(apart, (swallowed * receivers, 0), "{published:?}");
}

#[test]
fn another_server_is_sent_no_field_of_who_hears() {
    let rig = Rig::new(Script::default());
    let mut plan = plan(&rig, "http", 500);
    plan["target"]["http"]["headers"] = json!([["Authorization", "Bearer reader"]]);
    plan["publish"]["headers"] = json!([["X-Api-Key", "writer"]]);
    let relay = Relay::before(&mut plan, |_| Fate::Taken);
    let outcome = checked(&plan);
    assert!(published(&outcome).counters.ok > 5, "{:?}", published(&outcome));
    let heads = relay.heads();
    let begin = format!("POST /elsewhere HTTP/1.1\r\nHost: {}\r\n", relay.address);
    for head in &heads {
        assert!(head.starts_with(&begin) && head.contains("X-Api-Key: writer\r\n"), "{head}");
        assert!(!head.contains("reader"), "{head}");
    }
    assert!(heads.len() as u64 > published(&outcome).counters.ok, "and the proof");
}
