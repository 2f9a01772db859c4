//! A table server: packets on one port, over WebSocket on another.
//!
//! `server --host H --port P --styx-port P --threads N [--tuned] [--nagle]`

#[path = "../shared/rust-server/accept.rs"]
mod accept;
mod binary;
#[path = "../shared/rust-server/flags.rs"]
mod flags;
mod hall;
mod json;
mod outbox;
mod packet;
#[path = "../shared/rust-server/program.rs"]
mod program;
mod session;
mod stream;
mod websocket;

use std::error::Error;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};

use crate::flags::Flags;
use crate::hall::Hall;

/// What packets travel over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carrier {
    Stream,
    WebSocket,
}

/// What the command line chose for every connection.
#[derive(Debug, Clone, Copy)]
struct Settings {
    small_buffers: bool,
    nagle: bool,
}

fn main() -> ExitCode {
    program::run(serve)
}

fn serve(flags: &Flags) -> Result<(), Box<dyn Error>> {
    let settings = Settings { small_buffers: flags.has("tuned"), nagle: flags.has("nagle") };
    let workers = program::workers(flags)?;
    let host = flags.text("host")?;
    let bind = |port: u16| workers.block_on(TcpListener::bind((host, port)));

    let hall = Arc::new(Hall::new());
    let messages = bind(flags.number("port")?)?;
    let packets = bind(flags.number("styx-port")?)?;
    workers.spawn(hall::tell_lobby(Arc::clone(&hall)));
    let talk_on = |carrier: Carrier| {
        let hall = Arc::clone(&hall);
        move |stream| talk(stream, carrier, Arc::clone(&hall), settings)
    };
    workers.spawn(accept::each(messages, talk_on(Carrier::WebSocket)));
    workers.block_on(workers.spawn(accept::each(packets, talk_on(Carrier::Stream))))?;
    Ok(())
}

/// One connection, to its end.
async fn talk(
    stream: TcpStream,
    carrier: Carrier,
    hall: Arc<Hall>,
    settings: Settings,
) -> io::Result<()> {
    // A player's answer must not wait until the one before it is acknowledged.
    stream.set_nodelay(!settings.nagle)?;
    match carrier {
        Carrier::Stream => stream::talk(stream, hall).await,
        Carrier::WebSocket => {
            websocket::talk(stream, hall, settings.small_buffers).await.map_err(io::Error::other)
        }
    }
}
