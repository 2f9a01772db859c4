//! HTTP/3 with tokio-quiche on a UDP port.
//!
//! `server --host H --quic-port P --cert FILE --key FILE --threads N [--tuned]`,
//! or `server --version`

#[path = "../shared/rust-server/flags.rs"]
mod flags;
#[path = "../shared/rust-server/program.rs"]
mod program;
mod routes;
#[path = "../shared/rust-server/version.rs"]
mod version;

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

use futures::StreamExt;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::UdpSocket;
use tokio_quiche::http3::driver::{H3Event, ServerH3Event};
use tokio_quiche::http3::settings::Http3Settings;
use tokio_quiche::metrics::DefaultMetrics;
use tokio_quiche::settings::{CertificateKind, Hooks, QuicSettings, TlsCertificatePaths};
use tokio_quiche::{ConnectionParams, QuicConnectionStream, ServerH3Controller, ServerH3Driver};

use crate::flags::Flags;

fn main() -> ExitCode {
    program::run(serve)
}

fn serve(flags: &Flags) -> Result<(), Box<dyn Error>> {
    if flags.has("version") {
        let tokio_quiche = version::of("tokio-quiche").ok_or("tokio-quiche is not locked")?;
        let quiche = version::of("quiche").ok_or("quiche is not locked")?;
        println!("tokio-quiche {tokio_quiche} on quiche {quiche}");
        return Ok(());
    }
    let workers = program::workers(flags)?;
    let address = SocketAddr::new(flags.text("host")?.parse()?, flags.number("quic-port")?);
    let sockets: usize = if flags.has("tuned") { flags.number("threads")? } else { 1 };
    let certificate = TlsCertificatePaths {
        cert: flags.text("cert")?,
        private_key: flags.text("key")?,
        kind: CertificateKind::X509,
    };
    let params =
        ConnectionParams::new_server(QuicSettings::default(), certificate, Hooks::default());
    let listeners = {
        // The sockets and the tasks that read them belong to this runtime.
        let _entered = workers.enter();
        tokio_quiche::listen(bind(address, sockets)?, params, DefaultMetrics)?
    };
    let accepting: Vec<_> = listeners.into_iter().map(|each| workers.spawn(accept(each))).collect();
    for task in accepting {
        workers.block_on(task)?;
    }
    Ok(())
}

/// So many sockets on one port. The kernel gives all packets of a client to the same one.
fn bind(address: SocketAddr, count: usize) -> io::Result<Vec<UdpSocket>> {
    let one = || {
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_reuse_port(count > 1)?;
        socket.set_nonblocking(true)?;
        socket.bind(&address.into())?;
        UdpSocket::from_std(socket.into())
    };
    (0..count).map(|_| one()).collect()
}

async fn accept(mut arriving: QuicConnectionStream<DefaultMetrics>) {
    while let Some(arrived) = arriving.next().await {
        // A packet that begins no connection ends no other one.
        let Ok(connection) = arrived else { continue };
        let (driver, controller) = ServerH3Driver::new(Http3Settings::default());
        connection.start(driver);
        tokio::spawn(answer(controller));
    }
}

/// Answers each request of a connection in a task of its own, until the connection ends.
async fn answer(mut connection: ServerH3Controller) {
    while let Some(event) = connection.event_receiver_mut().recv().await {
        match event {
            ServerH3Event::Headers { incoming_headers, .. } => {
                tokio::spawn(routes::exchange(incoming_headers));
            }
            ServerH3Event::Core(H3Event::ConnectionError(_) | H3Event::ConnectionShutdown(_)) => {
                return;
            }
            ServerH3Event::Core(_) => {}
        }
    }
}
