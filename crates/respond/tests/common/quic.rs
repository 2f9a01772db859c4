//! A server that answers HTTP/3, and a session of a client with it over a socket.
//!
//! Knows QUIC's turns and how a conversation is cut off; must not know what is asked, nor what a reply
//! should be.

use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use wiretrial_net::clock::monotonic_ns;
use wiretrial_net::quic::{
    Direction, Event as Happened, Fault, QuicClient, QuicClientConfig, QuicClientSettings, Read,
    Scratch as Datagrams, TransportSettings, UdpSettings,
};
use wiretrial_net::{Alpn, ClientTlsSettings, Driver, DriverConfig, Key};
use wiretrial_proto::http3::{Action, Http3Client, Outgoing};
use wiretrial_proto::{ErrorClass, Event, Scratch};
use wiretrial_respond::{Script, Server, ServerPlan, start};

/// Between two looks at a clock, where nothing comes.
const LOOK: Duration = Duration::from_millis(10);
/// Streams that a client learns of at a time.
const AHEAD: u64 = 64;

const KEY: Key = Key { slot: 0, generation: 0 };

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A server that answers HTTP/3 beside HTTPS.
pub(crate) fn server(script: Script, threads: u32) -> Server {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("wiretrial-respond-http3-{}-{number}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let [cert, key]: [PathBuf; 2] = ["cert.pem", "key.pem"].map(|name| folder.join(name));
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let server = start(ServerPlan {
        http: Vec::new(),
        tcp: Vec::new(),
        styx: Vec::new(),
        https: vec![SocketAddr::from(([127, 0, 0, 1], 0))],
        http3: true,
        cert: Some(cert),
        key: Some(key),
        threads,
        ..super::plan(script)
    });
    // Both files were read. A folder that stays behind is no failure.
    let _ = std::fs::remove_dir_all(&folder);
    server.unwrap()
}

/// Why nothing more comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The server closed the connection, with this code.
    Closed(u64),
    /// The connection ended otherwise.
    Lost(Fault),
    /// Nothing came for as long as the client waits.
    Silence,
    /// The server broke the protocol.
    Broken(ErrorClass),
}

/// A client's connection.
pub(crate) struct Line {
    pub(crate) client: QuicClient,
    driver: Driver,
    datagrams: Datagrams,
    address: SocketAddr,
}

impl Line {
    /// Begins to connect.
    pub(crate) fn to(server: &Server, transport: TransportSettings) -> Self {
        let tls = ClientTlsSettings {
            insecure: true,
            server_name: "localhost".to_owned(),
            alpn: vec![Alpn::Http3],
            ..ClientTlsSettings::default()
        };
        let settings = QuicClientSettings { tls, transport, ..QuicClientSettings::default() };
        let config = QuicClientConfig::new(&settings).unwrap();
        let address = server.addresses().https[0];
        let client =
            QuicClient::connect(&config, address, &UdpSettings::default(), monotonic_ns()).unwrap();
        let mut driver = Driver::new(&DriverConfig::default()).unwrap();
        driver.watch(KEY, client.as_fd(), false).unwrap();
        Self { client, driver, datagrams: Datagrams::default(), address }
    }

    /// Goes on from another port.
    pub(crate) fn move_on(&mut self) {
        self.client.rebind(self.address, &UdpSettings::default()).unwrap();
        self.driver.watch(KEY, self.client.as_fd(), false).unwrap();
    }

    /// Sends what there is, waits a little, and takes in what came.
    pub(crate) fn turn(&mut self) {
        let now = monotonic_ns();
        // Who has stopped is found out by the connection itself.
        let _ = self.client.flush(now, &mut self.datagrams);
        let due = self.client.deadline().map(|due| due.saturating_sub(now));
        let wait = due.map_or(LOOK, |due| LOOK.min(Duration::from_nanos(due)));
        self.driver.wait(Some(wait)).unwrap();
        while self.driver.next().is_some() {}
        let now = monotonic_ns();
        let _ = self.client.receive(now, &mut self.datagrams);
        self.client.on_deadline(now);
    }

    /// Does what a session wants done.
    pub(crate) fn carry_out(&mut self, out: &mut Outgoing) {
        let (now, connection) = (monotonic_ns(), self.client.connection());
        // What is about a stream that is over means nothing.
        for action in out.actions() {
            match action {
                Action::Write { stream, bytes, fin } => {
                    let _ = connection.send(stream, bytes, fin, now);
                }
                Action::Reset { stream, code } => {
                    let _ = connection.reset(stream, code, now);
                }
                Action::Stop { stream, code } => {
                    let _ = connection.stop(stream, code);
                }
                Action::Close { code } => connection.close(code, "", now),
            }
        }
        out.clear();
    }
}

/// Talks until `hear`, which is told each event and may encode messages behind it, wants no more; or until
/// nothing came for so long. Events of the last turn are told all the same.
pub(crate) fn converse(
    line: &mut Line,
    session: &mut Http3Client,
    patience: Duration,
    mut hear: impl FnMut(&mut Http3Client, Event<'_>, &mut Outgoing) -> bool,
) -> Result<(), Cut> {
    let (mut out, mut scratch, mut input) = (Outgoing::new(), Scratch::new(), Vec::new());
    let (mut goes_on, mut heard) = (true, monotonic_ns());
    session.start(&mut out);
    while goes_on {
        line.turn();
        while let Some(event) = line.client.event(monotonic_ns()) {
            heard = monotonic_ns();
            let connection = line.client.connection();
            session.allow(connection.allowed(Direction::Bidirectional, AHEAD));
            match event {
                Happened::Connected(_) => goes_on = hear(session, Event::Open, &mut out),
                Happened::Readable(stream) => loop {
                    input.clear();
                    let Ok(read) = line.client.connection().read(stream, &mut input, 65_536) else {
                        break;
                    };
                    if let Read::Reset(code) = read {
                        let event = session.reset(stream, code, &mut out).unwrap();
                        goes_on = event.is_none_or(|event| hear(session, event, &mut out));
                        break;
                    }
                    let (mut offset, fin) = (0, read == Read::Finished);
                    loop {
                        let rest = &input[offset..];
                        let step = match session.receive(stream, rest, fin, &mut scratch, &mut out)
                        {
                            Ok(step) => step,
                            Err(error) => {
                                line.carry_out(&mut out);
                                line.turn();
                                return Err(Cut::Broken(error.class));
                            }
                        };
                        offset += step.consumed;
                        let Some(event) = step.event else { break };
                        goes_on = hear(session, event, &mut out);
                    }
                    if read != Read::More {
                        break;
                    }
                },
                Happened::Stopped(stream, code) => {
                    session.stop_sending(stream, code, &mut out).unwrap();
                }
                Happened::Ended(Fault::Closed { code, .. }) => return Err(Cut::Closed(code)),
                Happened::Ended(fault) => return Err(Cut::Lost(fault)),
                Happened::Writable(_) | Happened::Finished(_) | Happened::Room(_) => {}
            }
        }
        line.carry_out(&mut out);
        if monotonic_ns() - heard > patience.as_nanos() as u64 {
            return Err(Cut::Silence);
        }
    }
    Ok(())
}
