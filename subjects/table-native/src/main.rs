//! A table server: packets on one port, over WebSocket on another.
//!
//! `server --host H --port P --styx-port P --threads N [--tuned]`

mod binary;
#[path = "../shared/rust-server/flags.rs"]
mod flags;
mod hall;
mod json;
mod outbox;
mod packet;
mod session;
mod stream;
mod websocket;

use std::error::Error;
use std::io;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio::time::sleep;

use crate::flags::Flags;
use crate::hall::Hall;

/// Where nobody can be accepted, as without a free descriptor, it is tried again after this.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// What packets travel over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carrier {
    Stream,
    WebSocket,
}

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
    let tuned = flags.has("tuned");
    let workers = runtime::Builder::new_multi_thread()
        .worker_threads(flags.number::<NonZeroUsize>("threads")?.get())
        .enable_all()
        .build()?;
    let host = flags.text("host")?;
    let bind = |port: u16| workers.block_on(TcpListener::bind((host, port)));

    let hall = Arc::new(Hall::new());
    let messages = bind(flags.number("port")?)?;
    let packets = bind(flags.number("styx-port")?)?;
    workers.spawn(hall::tell_lobby(Arc::clone(&hall)));
    workers.spawn(serve(messages, Carrier::WebSocket, Arc::clone(&hall), tuned));
    workers.block_on(workers.spawn(serve(packets, Carrier::Stream, hall, tuned)))?;
    Ok(())
}

async fn serve(listener: TcpListener, carrier: Carrier, hall: Arc<Hall>, tuned: bool) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(talk(stream, carrier, Arc::clone(&hall), tuned));
            }
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// One connection, to its end. Whatever ends it concerns nobody else.
async fn talk(stream: TcpStream, carrier: Carrier, hall: Arc<Hall>, tuned: bool) -> io::Result<()> {
    if tuned {
        stream.set_nodelay(true)?;
    }
    match carrier {
        Carrier::Stream => stream::talk(stream, hall).await,
        Carrier::WebSocket => websocket::talk(stream, hall, tuned).await.map_err(io::Error::other),
    }
}
