//! A WebSocket echo with tokio-tungstenite on one port, and over TLS on another.
//!
//! `server --host H --port P --threads N [--tls-port P --cert FILE --key FILE] [--tuned]`

mod echo;
#[path = "../shared/rust-server/flags.rs"]
mod flags;
#[path = "../shared/rust-server/tls.rs"]
mod tls;

use std::error::Error;
use std::io;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

use crate::echo::Manner;
use crate::flags::Flags;

/// Where nobody can be accepted, as without a free descriptor, it is tried again after this.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let flags = Flags::read(std::env::args().skip(1))?;
    let manner = if flags.has("tuned") { Manner::Tuned } else { Manner::Default };
    let workers = runtime::Builder::new_multi_thread()
        .worker_threads(flags.number::<NonZeroUsize>("threads")?.get())
        .enable_all()
        .build()?;
    let host = flags.text("host")?;
    let bind = |port: u16| workers.block_on(TcpListener::bind((host, port)));

    let plain = bind(flags.number("port")?)?;
    let mut serving = vec![workers.spawn(serve(plain, None, manner))];
    if flags.has("tls-port") {
        let secure = bind(flags.number("tls-port")?)?;
        let acceptor = tls::acceptor(flags.text("cert")?, flags.text("key")?)?;
        serving.push(workers.spawn(serve(secure, Some(acceptor), manner)));
    }
    for task in serving {
        workers.block_on(task)?;
    }
    Ok(())
}

async fn serve(listener: TcpListener, tls: Option<TlsAcceptor>, manner: Manner) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(talk(stream, tls.clone(), manner));
            }
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// One connection, to its end. Whatever ends it concerns nobody else.
async fn talk(stream: TcpStream, tls: Option<TlsAcceptor>, manner: Manner) -> io::Result<()> {
    manner.prepare(&stream)?;
    let ended = match tls {
        None => echo::echo(stream, manner).await,
        Some(acceptor) => echo::echo(acceptor.accept(stream).await?, manner).await,
    };
    ended.map_err(io::Error::other)
}
