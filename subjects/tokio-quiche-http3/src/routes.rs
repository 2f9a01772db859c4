//! One request and its reply.
//!
//! Knows routes, and the frames that the driver takes and gives; must not know sockets or
//! certificates.

use bytes::{Bytes, BytesMut};
use futures::SinkExt;
use tokio_quiche::http3::driver::{
    InboundFrame, InboundFrameStream, IncomingH3Headers, OutboundFrame,
};
use tokio_quiche::quiche::h3::{Header, NameValue};

const MESSAGE: &[u8] = br#"{"seq":"0000000000000000","text":"one message of 64 bytes....."}"#;

struct Reply {
    status: &'static str,
    kind: &'static str,
    content: Bytes,
}

/// Reads a request to its end, then answers it. What the peer resets is not answered.
pub(crate) async fn exchange(request: IncomingH3Headers) {
    let IncomingH3Headers { headers, mut send, recv, read_fin, .. } = request;
    let content = if read_fin { Some(Bytes::new()) } else { read(recv).await };
    let Some(content) = content else { return };
    let method = value(&headers, b":method");
    let reply = route(method, value(&headers, b":path"), content);
    let head = vec![
        Header::new(b":status", reply.status.as_bytes()),
        Header::new(b"content-type", reply.kind.as_bytes()),
        Header::new(b"content-length", reply.content.len().to_string().as_bytes()),
    ];
    let content = if method == b"HEAD" { Bytes::new() } else { reply.content };
    // It fails where the connection is gone, which its own task learns.
    if send.send(OutboundFrame::Headers(head, None)).await.is_ok() {
        let _ = send.send(OutboundFrame::Body(content, true)).await;
    }
}

/// The content of a request. `None`: its stream was reset.
async fn read(mut frames: InboundFrameStream) -> Option<Bytes> {
    let mut content = BytesMut::new();
    while let Some(frame) = frames.recv().await {
        let InboundFrame::Body(piece, is_last) = frame else { continue };
        content.extend_from_slice(&piece);
        if is_last {
            return Some(content.freeze());
        }
    }
    None
}

fn route(method: &[u8], path: &[u8], content: Bytes) -> Reply {
    match (path, method) {
        (b"/message", b"GET" | b"HEAD") => {
            Reply { status: "200", kind: "application/json", content: Bytes::from_static(MESSAGE) }
        }
        (b"/echo", b"POST") => Reply { status: "200", kind: "application/octet-stream", content },
        (b"/message" | b"/echo", _) => refused("405"),
        _ => refused("404"),
    }
}

fn refused(status: &'static str) -> Reply {
    Reply { status, kind: "text/plain", content: Bytes::new() }
}

/// The value of a field; empty where there is none.
fn value<'a>(fields: &'a [Header], name: &[u8]) -> &'a [u8] {
    fields.iter().find(|field| field.name() == name).map(NameValue::value).unwrap_or_default()
}
