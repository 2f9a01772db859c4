//! The client of s2n-quic, which has no HTTP/3 in a published crate: a recorded request goes on each
//! stream, and what comes is counted up to its end, so that it costs less than with a codec.
//!
//! Knows that library; must not know what is measured.

use std::time::Instant;

use bytes::Bytes;
use s2n_quic::client::{Client, Connect};
use s2n_quic::connection::Handle;
use s2n_quic::provider::tls::rustls::Client as Tls;
use tokio::task::JoinSet;

use crate::{Asked, Failure};

/// The client's stream of control (RFC 9114, section 6.2.1), with SETTINGS that say nothing.
const CONTROL: [u8; 3] = [0x00, 0x04, 0x00];

pub(crate) async fn messages(asked: &Asked) -> Result<u64, Failure> {
    let tls = Tls::builder()
        .with_certificate(asked.authority.as_path())?
        .with_application_protocols(["h3"].iter())?
        .build()?;
    let client = Client::builder().with_tls(tls)?.with_io("0.0.0.0:0")?.start()?;
    let request = request(asked);
    let mut handles = Vec::new();
    let mut controls = Vec::new();
    for _ in 0..asked.connections {
        let to = Connect::new(asked.address).with_server_name(asked.server_name());
        let mut handle = client.connect(to).await?.handle();
        let mut control = handle.open_send_stream().await?;
        control.send(Bytes::from_static(&CONTROL)).await?;
        // It must not end before the connection does.
        controls.push(control);
        handles.push(handle);
    }
    let end = Instant::now() + asked.duration;
    let mut asking = JoinSet::new();
    for handle in &handles {
        for _ in 0..asked.streams {
            asking.spawn_local(repeat(handle.clone(), request.clone(), end));
        }
    }
    let mut messages = 0;
    while let Some(done) = asking.join_next().await {
        messages += done??;
    }
    Ok(messages)
}

/// One request after the other until the time is over.
async fn repeat(mut handle: Handle, request: Bytes, end: Instant) -> Result<u64, Failure> {
    let mut messages = 0;
    while Instant::now() < end {
        let mut stream = handle.open_bidirectional_stream().await?;
        stream.send(request.clone()).await?;
        stream.finish()?;
        let mut bytes = 0;
        while let Some(some) = stream.receive().await? {
            bytes += some.len();
        }
        if bytes == 0 {
            return Err("an empty reply came".into());
        }
        messages += 1;
    }
    Ok(messages)
}

/// A HEADERS frame of a GET. Fields by the static table of QPACK (RFC 9204, appendix A): 17 is
/// `:method: GET`, 23 `:scheme: https`, 0 and 1 the names `:authority` and `:path`.
fn request(asked: &Asked) -> Bytes {
    let mut fields = vec![0, 0, 0xc0 | 17, 0xc0 | 23];
    for (name, value) in [(0, asked.address.to_string()), (1, asked.path.clone())] {
        // Both are far shorter than the 127 bytes from which on a length takes more than a byte.
        fields.extend([0x50 | name, value.len() as u8]);
        fields.extend(value.as_bytes());
    }
    let mut frame = vec![0x01];
    match fields.len() {
        ..64 => frame.push(fields.len() as u8),
        length => frame.extend((0x4000 | length as u16).to_be_bytes()),
    }
    frame.extend(fields);
    frame.into()
}
