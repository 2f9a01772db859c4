//! A WebSocket echo with axum on one port, and over TLS on another.
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

use std::error::Error;
use std::io;
use std::process::ExitCode;

use axum::Router;
use axum::serve::ListenerExt;
use axum_server::accept::NoDelayAcceptor;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use tokio::net::TcpListener;

use crate::echo::Manner;
use crate::flags::Flags;

fn main() -> ExitCode {
    program::run(serve)
}

fn serve(flags: &Flags) -> Result<(), Box<dyn Error>> {
    if flags.has("version") {
        println!("axum {}", version::of("axum").ok_or("axum is not locked")?);
        return Ok(());
    }
    let manner = if flags.has("tuned") { Manner::Tuned } else { Manner::Default };
    let workers = program::workers(flags)?;
    let host = flags.text("host")?;
    let bind = |port: u16| workers.block_on(TcpListener::bind((host, port)));

    let plain = bind(flags.number("port")?)?;
    let mut serving = vec![workers.spawn(serve_plain(plain, echo::routes(manner), manner))];
    if flags.has("tls-port") {
        let secure = bind(flags.number("tls-port")?)?;
        let pem = RustlsConfig::from_pem_file(flags.text("cert")?, flags.text("key")?);
        let config = workers.block_on(pem)?;
        serving.push(workers.spawn(serve_tls(secure, config, echo::routes(manner), manner)));
    }
    for task in serving {
        workers.block_on(task)??;
    }
    Ok(())
}

async fn serve_plain(listener: TcpListener, routes: Router, manner: Manner) -> io::Result<()> {
    if manner == Manner::Default {
        return axum::serve(listener, routes).await;
    }
    let undelayed = listener.tap_io(|stream| {
        // It fails where the peer is gone, which the first read will tell.
        let _ = stream.set_nodelay(true);
    });
    axum::serve(undelayed, routes).await
}

async fn serve_tls(
    listener: TcpListener,
    config: RustlsConfig,
    routes: Router,
    manner: Manner,
) -> io::Result<()> {
    let service = routes.into_make_service();
    let server = axum_server::from_tcp(listener.into_std()?)?;
    let acceptor = RustlsAcceptor::new(config);
    match manner {
        Manner::Default => server.acceptor(acceptor).serve(service).await,
        Manner::Tuned => server.acceptor(acceptor.acceptor(NoDelayAcceptor)).serve(service).await,
    }
}
