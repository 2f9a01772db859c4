//! A WebSocket echo with tokio-tungstenite on one port, and over TLS on another.
//!
//! `server --host H --port P --threads N [--tls-port P --cert FILE --key FILE] [--tuned]`

#[path = "../shared/rust-server/accept.rs"]
mod accept;
mod echo;
#[path = "../shared/rust-server/flags.rs"]
mod flags;
#[path = "../shared/rust-server/program.rs"]
mod program;
#[path = "../shared/rust-server/tls.rs"]
mod tls;

use std::error::Error;
use std::io;
use std::process::ExitCode;

use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::echo::Manner;
use crate::flags::Flags;

fn main() -> ExitCode {
    program::run(serve)
}

fn serve(flags: &Flags) -> Result<(), Box<dyn Error>> {
    let manner = if flags.has("tuned") { Manner::Tuned } else { Manner::Default };
    let workers = program::workers(flags)?;
    let host = flags.text("host")?;
    let bind = |port: u16| workers.block_on(TcpListener::bind((host, port)));

    let plain = bind(flags.number("port")?)?;
    let talk_plain = move |stream| talk(stream, None, manner);
    let mut serving = vec![workers.spawn(accept::each(plain, talk_plain))];
    if flags.has("tls-port") {
        let secure = bind(flags.number("tls-port")?)?;
        let acceptor = tls::acceptor(flags.text("cert")?, flags.text("key")?)?;
        let talk_secure = move |stream| talk(stream, Some(acceptor.clone()), manner);
        serving.push(workers.spawn(accept::each(secure, talk_secure)));
    }
    for task in serving {
        workers.block_on(task)?;
    }
    Ok(())
}

/// One connection, to its end.
async fn talk(stream: TcpStream, tls: Option<TlsAcceptor>, manner: Manner) -> io::Result<()> {
    manner.prepare(&stream)?;
    let ended = match tls {
        None => echo::echo(stream, manner).await,
        Some(acceptor) => echo::echo(acceptor.accept(stream).await?, manner).await,
    };
    ended.map_err(io::Error::other)
}
