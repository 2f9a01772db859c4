//! HTTP/1.1 and HTTP/2 with axum on one port, and both inside TLS on another.
//!
//! `server --host H --port P --threads N [--tls-port P --cert FILE --key FILE] [--tuned]`,
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

use axum_server::accept::NoDelayAcceptor;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use axum_server::Server;
use tokio::net::TcpListener;

use crate::flags::Flags;
use crate::routes::routes;

const STREAMS: u32 = 1000;
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 4 << 20;

fn main() -> ExitCode {
    program::run(serve)
}

fn serve(flags: &Flags) -> Result<(), Box<dyn Error>> {
    if flags.has("version") {
        let axum = version::of("axum").ok_or("axum is not locked")?;
        let hyper = version::of("hyper").ok_or("hyper is not locked")?;
        println!("axum {axum} on hyper {hyper}");
        return Ok(());
    }
    let tuned = flags.has("tuned");
    let workers = program::workers(flags)?;
    let host = flags.text("host")?;
    let bind = |port: u16| workers.block_on(TcpListener::bind((host, port)));

    let plain = bind(flags.number("port")?)?;
    let mut serving = vec![workers.spawn(serve_plain(plain, tuned))];
    if flags.has("tls-port") {
        let secure = bind(flags.number("tls-port")?)?;
        let pem = RustlsConfig::from_pem_file(flags.text("cert")?, flags.text("key")?);
        let config = workers.block_on(pem)?;
        serving.push(workers.spawn(serve_tls(secure, config, tuned)));
    }
    for task in serving {
        workers.block_on(task)??;
    }
    Ok(())
}

async fn serve_plain(listener: TcpListener, tuned: bool) -> io::Result<()> {
    if !tuned {
        return axum::serve(listener, routes()).await;
    }
    // axum::serve has no options; axum-server has hyper's.
    let server = widened(axum_server::from_tcp(listener.into_std()?)?);
    server.acceptor(NoDelayAcceptor).serve(routes().into_make_service()).await
}

async fn serve_tls(listener: TcpListener, config: RustlsConfig, tuned: bool) -> io::Result<()> {
    let service = routes().into_make_service();
    let server = axum_server::from_tcp(listener.into_std()?)?;
    let acceptor = RustlsAcceptor::new(config);
    if tuned {
        widened(server).acceptor(acceptor.acceptor(NoDelayAcceptor)).serve(service).await
    } else {
        server.acceptor(acceptor).serve(service).await
    }
}

fn widened(mut server: Server<SocketAddr>) -> Server<SocketAddr> {
    server
        .http_builder()
        .http2()
        .max_concurrent_streams(STREAMS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW);
    server
}
