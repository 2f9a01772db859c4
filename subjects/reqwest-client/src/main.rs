//! A client driver around reqwest: its asynchronous `Client` on a runtime of one thread.
//!
//! Knows reqwest; must not know how it is measured.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use driver::{Client, Failure, Options};
use reqwest::{Certificate, StatusCode};
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tower::util::MapResponseLayer;

fn main() -> ExitCode {
    let version = driver::locked_version(include_str!("../Cargo.lock"), "reqwest");
    let library = format!("reqwest {version}");
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("reqwest-client: {error}");
            return ExitCode::FAILURE;
        }
    };
    driver::drive("reqwest-client", &library, &["http", "https"], |options| {
        HttpClient::open(options, &runtime)
    })
}

struct HttpClient<'a> {
    runtime: &'a Runtime,
    http: reqwest::Client,
    url: String,
    opened: Arc<AtomicU64>,
}

impl<'a> HttpClient<'a> {
    /// reqwest has no call that only connects; each connection is counted as it stands.
    fn open(options: &Options, runtime: &'a Runtime) -> Result<Self, Failure> {
        let opened = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&opened);
        let mut builder = reqwest::Client::builder()
            .timeout(options.timeout)
            // Proxies of the environment are none of the experiment's.
            .no_proxy()
            .connector_layer(MapResponseLayer::new(move |connection| {
                count.fetch_add(1, Ordering::Relaxed);
                connection
            }));
        if !options.authority.is_empty() {
            builder = builder.tls_certs_only(Certificate::from_pem_bundle(&options.authority)?);
        }
        Ok(Self { runtime, http: builder.build()?, url: options.url.clone(), opened })
    }

    async fn request(&self, message: &Bytes) -> Result<Bytes, Failure> {
        let request = if message.is_empty() {
            self.http.get(&self.url)
        } else {
            self.http.post(&self.url).body(message.clone())
        };
        let response = request.send().await?;
        let status = response.status();
        let content = response.bytes().await?;
        // The pool takes the connection back in a task of its own. A request that comes before
        // would open a second one.
        yield_now().await;
        if status != StatusCode::OK {
            return Err(format!("status {} instead of 200", status.as_u16()).into());
        }
        Ok(content)
    }
}

impl Client for HttpClient<'_> {
    type Reply = Bytes;

    fn exchange(&mut self, message: &Bytes) -> Result<Bytes, Failure> {
        self.runtime.block_on(self.request(message))
    }

    fn opened(&self) -> u64 {
        self.opened.load(Ordering::Relaxed)
    }
}
