//! A server that does what a script says, wrong or right: one thread per connection, blocking
//! sockets, and nothing of the code under test but the hash that accepts an upgrade.
//!
//! Everything is bounded: reads and writes end after [`PATIENCE`], what is kept of the peer's
//! bytes has a limit, and dropping the server ends its threads.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use wiretrial_net::monotonic_ns;

use crate::speech::Speech;
use crate::wire::Wire;

/// Longest wait of any one read or write.
const PATIENCE: Duration = Duration::from_secs(20);
/// Most bytes that are kept of what a peer sent after the script was over.
const KEPT: usize = 1 << 20;

/// Connections of which it is kept what they saw.
const MOST_SEEN: usize = 100;

/// One thing that the server does on a connection.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Whatever comes before the first request: the answer to a WebSocket upgrade.
    Open,
    /// The same, with one more header line: an extension that is agreed to.
    OpenWith(&'static str),
    /// Takes one whole request, and answers nothing.
    Read,
    /// Answers the oldest request that has no answer yet, rightly.
    Reply,
    /// Answers it with what this makes of its payload.
    ReplyAs(fn(&[u8]) -> Vec<u8>),
    /// Lets the two oldest requests that have no answer yet change places.
    Swap,
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends these bytes below TLS.
    Raw(Vec<u8>),
    /// Sends these bytes one by one, so far apart.
    Drip(Vec<u8>, Duration),
    /// Sends these bytes again and again, until the peer is gone or so many were sent.
    Flood(Vec<u8>, usize),
    /// Does nothing for so long.
    Pause(Duration),
    /// Sends FIN, with TLS after `close_notify`.
    Finish,
    /// Sends FIN, with TLS without `close_notify`.
    Cut,
    /// Sends RST.
    Reset,
    /// Does everything right from here on.
    Serve,
}

/// What a connection saw.
#[derive(Debug, Default, Clone)]
pub(crate) struct Seen {
    /// When it was accepted and when its script was over, monotonic nanoseconds.
    pub(crate) times: Option<(u64, u64)>,
    /// Requests that were read.
    pub(crate) requests: usize,
    /// WebSocket control frames that came between requests: first byte and payload.
    pub(crate) control: Vec<(u8, Vec<u8>)>,
    /// What came after the script was over, as far as it is kept.
    pub(crate) rest: Vec<u8>,
}

/// Gives the script of the connection with this number.
pub(crate) type Author = Box<dyn Fn(usize) -> Vec<Step> + Send + Sync>;

/// Requests that were read so far.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// On the first connection.
    pub(crate) first: AtomicUsize,
    /// On all others.
    pub(crate) others: AtomicUsize,
}

/// The server.
pub(crate) struct Scripted {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    seen: Arc<Mutex<Vec<Seen>>>,
    asked: Arc<Asked>,
    acceptor: Option<JoinHandle<()>>,
}

impl Scripted {
    /// The script of connection `n` is the `n`th, the last one for all that follow.
    pub(crate) fn start(
        speech: Speech,
        tls: Option<Arc<rustls::ServerConfig>>,
        scripts: Vec<Vec<Step>>,
    ) -> Self {
        let last = scripts.len() - 1;
        Self::written_by(speech, tls, Box::new(move |number| scripts[number.min(last)].clone()))
    }

    /// Asks the author for the script of each connection.
    pub(crate) fn written_by(
        speech: Speech,
        tls: Option<Arc<rustls::ServerConfig>>,
        author: Author,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let (stop, seen) = (Arc::<AtomicBool>::default(), Arc::<Mutex<Vec<Seen>>>::default());
        let asked = Arc::<Asked>::default();
        let acceptor = {
            let (stop, seen, asked) = (Arc::clone(&stop), Arc::clone(&seen), Arc::clone(&asked));
            std::thread::spawn(move || {
                let play = Play { speech, tls, author, seen, asked, stop };
                std::thread::scope(|scope| {
                    for (number, stream) in listener.incoming().enumerate() {
                        if play.stop.load(Ordering::Relaxed) {
                            return;
                        }
                        let play = &play;
                        scope.spawn(move || play.connection(number, stream.ok()));
                    }
                });
            })
        };
        Self { address, stop, seen, asked, acceptor: Some(acceptor) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// How much was asked so far.
    pub(crate) fn asked(&self) -> Arc<Asked> {
        Arc::clone(&self.asked)
    }

    /// Waits until every connection is over, and tells what each saw.
    pub(crate) fn end(mut self) -> Vec<Seen> {
        self.join();
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn join(&mut self) {
        let Some(acceptor) = self.acceptor.take() else { return };
        self.stop.store(true, Ordering::Relaxed);
        // The acceptor looks at the flag when somebody connects.
        let _ = TcpStream::connect(self.address);
        let joined = acceptor.join();
        assert!(joined.is_ok() || std::thread::panicking(), "the scripted server panicked");
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.join();
    }
}

/// What all connections of a server share.
struct Play {
    speech: Speech,
    tls: Option<Arc<rustls::ServerConfig>>,
    author: Author,
    seen: Arc<Mutex<Vec<Seen>>>,
    asked: Arc<Asked>,
    stop: Arc<AtomicBool>,
}

impl Play {
    fn connection(&self, number: usize, stream: Option<TcpStream>) {
        let Some(stream) = stream else { return };
        let mut seen = Seen::default();
        // A peer that leaves ends the script, and that is no fault of the server's.
        let _ = self.perform(number, stream, &mut seen);
        if number >= MOST_SEEN {
            return;
        }
        let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let needed = all.len().max(number + 1);
        all.resize(needed, Seen::default());
        all[number] = seen;
    }

    fn perform(&self, number: usize, stream: TcpStream, seen: &mut Seen) -> io::Result<()> {
        let accepted = monotonic_ns();
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        let mut wire = Wire::new(stream, self.tls.clone())?;
        let mut unanswered = VecDeque::new();
        let asked = if number == 0 { &self.asked.first } else { &self.asked.others };
        for step in &(self.author)(number) {
            if matches!(step, Step::Reset) {
                return wire.reset();
            }
            self.take(step, &mut wire, &mut unanswered, (seen, asked))?;
        }
        seen.times = Some((accepted, monotonic_ns()));
        wire.take(KEPT as u64).read_to_end(&mut seen.rest)?;
        Ok(())
    }

    fn take(
        &self,
        step: &Step,
        wire: &mut Wire,
        unanswered: &mut VecDeque<Vec<u8>>,
        (seen, asked): (&mut Seen, &AtomicUsize),
    ) -> io::Result<()> {
        let mut read = |wire: &mut Wire| {
            let payload = self.speech.read(wire, &mut seen.control)?;
            seen.requests += 1;
            asked.fetch_add(1, Ordering::Relaxed);
            Ok::<_, io::Error>(payload)
        };
        match step {
            Step::Open => self.speech.open(wire, ""),
            Step::OpenWith(line) => self.speech.open(wire, line),
            Step::Read => {
                unanswered.push_back(read(wire)?);
                Ok(())
            }
            Step::Reply => {
                let payload = unanswered.pop_front().unwrap_or_default();
                wire.write_all(&self.speech.reply(&payload))
            }
            Step::ReplyAs(make) => {
                wire.write_all(&make(&unanswered.pop_front().unwrap_or_default()))
            }
            Step::Swap => {
                unanswered.swap(0, 1);
                Ok(())
            }
            Step::Send(bytes) => wire.write_all(bytes),
            Step::Raw(bytes) => wire.write_below(bytes),
            Step::Drip(bytes, apart) => bytes.chunks(1).try_for_each(|byte| {
                pause(*apart);
                wire.write_all(byte)
            }),
            Step::Flood(bytes, most) => {
                (0..*most / bytes.len()).try_for_each(|_| wire.write_all(bytes))
            }
            Step::Pause(time) => {
                pause(*time);
                Ok(())
            }
            Step::Finish => wire.finish(),
            Step::Cut => wire.cut(),
            Step::Reset => Ok(()),
            Step::Serve => loop {
                let payload = read(wire)?;
                wire.write_all(&self.speech.reply(&payload))?;
            },
        }
    }
}

/// Waits for so long, and not less.
pub(crate) fn pause(time: Duration) {
    let end = monotonic_ns() + time.as_nanos() as u64;
    while let Some(left) = end.checked_sub(monotonic_ns()).filter(|left| *left > 0) {
        std::thread::park_timeout(Duration::from_nanos(left));
    }
}
