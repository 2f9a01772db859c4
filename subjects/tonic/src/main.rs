//! wiretrial.Echo with tonic on one port, and over TLS on another.
//!
//! `server --host H --port P --threads N [--tls-port P --cert FILE --key FILE] [--tuned]`,
//! or `server --version`

mod echo;
#[path = "../shared/rust-server/flags.rs"]
mod flags;
#[path = "../shared/rust-server/program.rs"]
mod program;
#[path = "../shared/rust-server/version.rs"]
mod version;
mod service {
    //! What the build makes of `echo.proto`.

    tonic::include_proto!("wiretrial");
}

use std::error::Error;
use std::fs;
use std::net::SocketAddr;
use std::process::ExitCode;

use tonic::transport::{Identity, Server, ServerTlsConfig};

use crate::echo::Service;
use crate::flags::Flags;
use crate::service::echo_server::EchoServer;

/// Tuned: streams of a connection, and what one and all of them take unread, in bytes.
const STREAMS: u32 = 1000;
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 4 << 20;

fn main() -> ExitCode {
    program::run(serve)
}

fn serve(flags: &Flags) -> Result<(), Box<dyn Error>> {
    if flags.has("version") {
        println!("{}", version::of("tonic").ok_or("tonic is not locked")?);
        return Ok(());
    }
    let workers = program::workers(flags)?;
    let server = if flags.has("tuned") { tuned() } else { Server::builder() };

    let mut secure = None;
    if flags.has("tls-port") {
        let identity = Identity::from_pem(
            fs::read(flags.text("cert")?)?,
            fs::read(flags.text("key")?)?,
        );
        let tls = server.clone().tls_config(ServerTlsConfig::new().identity(identity))?;
        secure = Some(workers.spawn(listen(tls, address(flags, "tls-port")?)));
    }
    let plain = workers.spawn(listen(server, address(flags, "port")?));
    for task in secure.into_iter().chain([plain]) {
        workers.block_on(task)??;
    }
    Ok(())
}

fn tuned() -> Server {
    Server::builder()
        .max_concurrent_streams(STREAMS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
}

fn address(flags: &Flags, port: &str) -> Result<SocketAddr, Box<dyn Error>> {
    Ok(SocketAddr::new(flags.number("host")?, flags.number(port)?))
}

async fn listen(mut server: Server, address: SocketAddr) -> Result<(), tonic::transport::Error> {
    server.add_service(EchoServer::new(Service)).serve(address).await
}
