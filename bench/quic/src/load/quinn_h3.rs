//! The client of quinn, with the crate h3. Knows these libraries; must not know what is measured.

use std::future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use bytes::{Buf, Bytes};
use h3::client::SendRequest;
use h3_quinn::OpenStreams;
use http::{Request, StatusCode};
use quinn::Endpoint;
use quinn::crypto::rustls::QuicClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::task::{self, JoinSet};

use crate::{Asked, Failure};

pub(crate) async fn messages(asked: &Asked) -> Result<u64, Failure> {
    let endpoint = endpoint(asked)?;
    let request = Request::get(&asked.url).body(())?;
    let mut senders = Vec::new();
    for _ in 0..asked.connections {
        let connection = endpoint.connect(asked.address, &asked.server_name())?.await?;
        let (mut driver, sender) = h3::client::new(h3_quinn::Connection::new(connection)).await?;
        task::spawn_local(
            async move { future::poll_fn(|context| driver.poll_close(context)).await },
        );
        senders.push(sender);
    }
    let end = Instant::now() + asked.duration;
    let mut asking = JoinSet::new();
    for sender in &senders {
        for _ in 0..asked.streams {
            asking.spawn_local(repeat(sender.clone(), request.clone(), end));
        }
    }
    let mut messages = 0;
    while let Some(done) = asking.join_next().await {
        messages += done??;
    }
    Ok(messages)
}

/// One request after the other until the time is over.
async fn repeat(
    mut sender: SendRequest<OpenStreams, Bytes>,
    request: Request<()>,
    end: Instant,
) -> Result<u64, Failure> {
    let mut messages = 0;
    while Instant::now() < end {
        let mut stream = sender.send_request(request.clone()).await?;
        stream.finish().await?;
        let reply = stream.recv_response().await?;
        if reply.status() != StatusCode::OK {
            return Err(format!("status {}", reply.status()).into());
        }
        while let Some(mut content) = stream.recv_data().await? {
            content.advance(content.remaining());
        }
        messages += 1;
    }
    Ok(messages)
}

fn endpoint(asked: &Asked) -> Result<Endpoint, Failure> {
    let mut roots = rustls::RootCertStore::empty();
    for authority in CertificateDer::pem_file_iter(&asked.authority)? {
        roots.add(authority?)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let config = quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    let mut endpoint = Endpoint::client(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)))?;
    endpoint.set_default_client_config(config);
    Ok(endpoint)
}
