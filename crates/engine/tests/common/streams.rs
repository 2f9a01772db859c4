//! A server of HTTP/2 whose manners are a test's own: what it allows, how long it takes, what it refuses.
//!
//! Knows frames by the codec. Each connection has a thread that ends with it.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use wiretrial_load::clock::{Clock as _, Monotonic, Nanos};
use wiretrial_proto::Scratch;
use wiretrial_proto::http2::{ErrorCode, Http2Event, Http2Limits, Http2Server};

/// How it behaves.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Manners {
    pub(crate) limits: Http2Limits,
    /// From a whole request to its answer.
    pub(crate) delay: Duration,
    /// Content of each answer, bytes.
    pub(crate) content: usize,
    /// Each request whose number is a multiple of this is refused, of a connection; 0: none.
    pub(crate) refuses: u64,
    /// It takes its leave of a connection after so many requests; 0: never.
    pub(crate) leaves_after: u64,
}

/// Fields of a request, names and values.
pub(crate) type Said = Vec<(String, String)>;

/// A server that runs until it is dropped.
pub(crate) struct Streams {
    pub(crate) address: SocketAddr,
    /// What requests said, in the order in which they came, without what stands before their fields.
    pub(crate) heard: Arc<Mutex<Vec<Said>>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Streams {
    pub(crate) fn start(manners: Manners) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let heard = Arc::default();
        let ears = Arc::clone(&heard);
        let thread = std::thread::spawn(move || {
            let mut served = Vec::new();
            while !over.load(Ordering::Relaxed) {
                let (client, _) = listener.accept().expect("a client");
                let (over, ears) = (Arc::clone(&over), Arc::clone(&ears));
                served.push(std::thread::spawn(move || serve(client, manners, &ears, &over)));
            }
            for one in served {
                one.join().expect("it served");
            }
        });
        Self { address, heard, is_over, thread: Some(thread) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // It looks whether it is over when somebody connects.
        let _ = TcpStream::connect(self.address);
        let joined = self.thread.take().map(JoinHandle::join);
        assert!(matches!(joined, Some(Ok(()))) || std::thread::panicking());
    }
}

/// One connection, until the client ends it.
fn serve(mut client: TcpStream, manners: Manners, heard: &Mutex<Vec<Said>>, over: &AtomicBool) {
    client.set_nodelay(true).expect("set");
    client.set_read_timeout(Some(Duration::from_millis(1))).expect("set");
    let (mut codec, mut scratch) = (Http2Server::new(manners.limits), Scratch::new());
    let (mut input, mut out) = (Vec::new(), Vec::new());
    let mut asked: VecDeque<(Nanos, u32)> = VecDeque::new();
    let (clock, delay) = (Monotonic::start(), Nanos(manners.delay.as_nanos() as u64));
    let mut requests = 0;
    let content = vec![b'x'; manners.content];
    let mut buffer = vec![0; 64 * 1024];
    while !over.load(Ordering::Relaxed) {
        match client.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => input.extend_from_slice(&buffer[..count]),
            Err(error) if is_no_end(error.kind()) => {}
            Err(_) => return,
        }
        let mut offset = 0;
        loop {
            let Ok(step) = codec.receive(&input[offset..], &mut scratch, &mut out) else { return };
            offset += step.consumed;
            let Some(event) = step.event else { break };
            if let Http2Event::Request { fields, .. } = &event {
                let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                let said = fields.iter().map(|(name, value)| (text(name), text(value)));
                heard.lock().expect("nobody panicked").push(said.collect());
            }
            if let Http2Event::End { stream } = event {
                requests += 1;
                if manners.refuses > 0 && requests % manners.refuses == 0 {
                    codec.reset(stream, ErrorCode::RefusedStream, &mut out);
                } else {
                    asked.push_back((clock.now() + delay, stream));
                }
                if requests == manners.leaves_after {
                    codec.leave(&mut out);
                }
            }
        }
        input.drain(..offset);
        while asked.front().is_some_and(|(due, _)| *due <= clock.now()) {
            let Some((_, stream)) = asked.pop_front() else { break };
            codec.respond(stream, 200, &[], content.is_empty(), &mut out);
            if !content.is_empty() {
                codec.content(stream, &content, true, &mut out);
            }
        }
        if client.write_all(&out).is_err() {
            return;
        }
        out.clear();
    }
}

/// Nothing came for a while, or a stopped machine goes on (signal(7)).
fn is_no_end(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
