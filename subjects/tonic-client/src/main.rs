//! A client driver around tonic: unary calls on a `Channel`, on a runtime of one thread.
//!
//! Knows tonic; must not know how it is measured.

mod service {
    //! What the build makes of `echo.proto`.

    tonic::include_proto!("wiretrial");
}

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use driver::{Client, Failure, Options};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Uri};
use tower::service_fn;

use crate::service::Message;
use crate::service::echo_client::EchoClient;

fn main() -> ExitCode {
    let version = driver::locked_version(include_str!("../Cargo.lock"), "tonic");
    let library = format!("tonic {version}");
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("tonic-client: {error}");
            return ExitCode::FAILURE;
        }
    };
    driver::drive("tonic-client", &library, &["grpc", "grpcs"], |options| {
        Caller::open(options, &runtime)
    })
}

struct Caller<'a> {
    runtime: &'a Runtime,
    echo: EchoClient<Channel>,
    options: Options,
    opened: Arc<AtomicU64>,
}

impl<'a> Caller<'a> {
    /// Connects; each connection is counted as it stands.
    fn open(options: &Options, runtime: &'a Runtime) -> Result<Self, Failure> {
        let opened = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&opened);
        let connector = service_fn(move |to: Uri| {
            let count = Arc::clone(&count);
            async move {
                let authority = to.authority().ok_or(io::ErrorKind::InvalidInput)?;
                let stream = TcpStream::connect(authority.as_str()).await?;
                // As tonic's own connector does.
                stream.set_nodelay(true)?;
                count.fetch_add(1, Ordering::Relaxed);
                Ok::<_, io::Error>(TokioIo::new(stream))
            }
        });
        // Its schemes are those of HTTP.
        let mut endpoint = Endpoint::from_shared(options.url.replacen("grpc", "http", 1))?;
        if !options.authority.is_empty() {
            let trust = Certificate::from_pem(&options.authority);
            endpoint = endpoint.tls_config(ClientTlsConfig::new().ca_certificate(trust))?;
        }
        let connect = endpoint.connect_with_connector(connector);
        let channel = runtime.block_on(async { timeout(options.timeout, connect).await })??;
        Ok(Self { runtime, echo: EchoClient::new(channel), options: options.clone(), opened })
    }
}

impl Client for Caller<'_> {
    type Reply = Vec<u8>;

    fn exchange(&mut self, message: &Bytes) -> Result<Vec<u8>, Failure> {
        let sent = Message { content: message.to_vec(), ..Message::default() };
        let call = self.echo.unary(sent);
        let limit = self.options.timeout;
        let reply = self.runtime.block_on(async { timeout(limit, call).await })??;
        Ok(reply.into_inner().content)
    }

    fn opened(&self) -> u64 {
        self.opened.load(Ordering::Relaxed)
    }
}
