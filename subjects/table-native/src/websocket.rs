//! A player over WebSocket: a packet in each message.
//!
//! Knows the upgrade and kinds of messages; must not know what packets say.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config};

use crate::hall::Hall;
use crate::outbox::{self, Inbox};
use crate::packet::{Encoding, LARGEST};
use crate::session::Session;

/// Where the upgrade is taken.
const PATH: &str = "/socket";
/// What the library's documentation gives for many connections, bytes.
const SMALL_BUFFER: usize = 4 << 10;

type Socket = WebSocketStream<TcpStream>;

pub(crate) async fn talk(
    stream: TcpStream,
    hall: Arc<Hall>,
    small_buffers: bool,
) -> Result<(), Error> {
    let config =
        WebSocketConfig::default().max_message_size(Some(LARGEST)).max_frame_size(Some(LARGEST));
    let config = if small_buffers { config.read_buffer_size(SMALL_BUFFER) } else { config };
    let mut socket = accept_hdr_async_with_config(stream, only_at_the_path, Some(config)).await?;
    let Some(first) = first_message(&mut socket).await? else { return Ok(()) };
    let encoding = if first.is_text() { Encoding::Json } else { Encoding::Binary };
    let (outbox, mut inbox) = outbox::open(encoding);
    let mut session = Session::new(hall, outbox);
    let (mut batch, mut message) = (Vec::new(), first);
    loop {
        if !hear(&message, encoding, &mut session) {
            return send_away(&mut socket, CloseCode::Protocol).await;
        }
        // What nobody said is skipped over.
        message = loop {
            tokio::select! {
                next = socket.next() => match next {
                    None => return Ok(()),
                    Some(Ok(Message::Close(_))) => return finish(&mut socket).await,
                    Some(Ok(next)) => break next,
                    Some(Err(Error::Capacity(_))) => {
                        return send_away(&mut socket, CloseCode::Size).await;
                    }
                    Some(Err(Error::Utf8(_))) => {
                        return send_away(&mut socket, CloseCode::Invalid).await;
                    }
                    Some(Err(Error::Protocol(_))) => {
                        return send_away(&mut socket, CloseCode::Protocol).await;
                    }
                    Some(Err(error)) => return Err(error),
                },
                fits = inbox.take(&mut batch) => {
                    if !fits || !write(&mut socket, &inbox, &mut batch, encoding).await? {
                        return Ok(());
                    }
                }
            }
        };
    }
}

/// Hands a message to the session; false: it is no packet.
fn hear(message: &Message, encoding: Encoding, session: &mut Session) -> bool {
    let packet: &[u8] = match (message, encoding) {
        (Message::Binary(packet), Encoding::Binary) => packet,
        (Message::Text(packet), Encoding::Json) => packet.as_bytes(),
        // Pings are answered by the library.
        (Message::Ping(_) | Message::Pong(_), _) => return true,
        _ => return false,
    };
    match encoding.read(packet) {
        Ok(request) => session.hear(request),
        Err(_) => return false,
    }
    true
}

/// The first message that tells its encoding; none: there is none.
async fn first_message(socket: &mut Socket) -> Result<Option<Message>, Error> {
    while let Some(message) = socket.next().await {
        match message {
            Ok(message @ (Message::Text(_) | Message::Binary(_))) => return Ok(Some(message)),
            Ok(Message::Close(_)) => return finish(socket).await.map(|()| None),
            Ok(_) => {}
            Err(Error::Capacity(_)) => {
                return send_away(socket, CloseCode::Size).await.map(|()| None);
            }
            Err(Error::Protocol(_)) => {
                return send_away(socket, CloseCode::Protocol).await.map(|()| None);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Writes all packets in one go, unless so many come meanwhile that it is given up: false.
async fn write(
    socket: &mut Socket,
    inbox: &Inbox,
    batch: &mut Vec<Bytes>,
    encoding: Encoding,
) -> Result<bool, Error> {
    let all = async {
        for packet in batch.drain(..) {
            socket.feed(framed(packet, encoding)?).await?;
        }
        socket.flush().await
    };
    tokio::select! {
        written = all => written.map(|()| true),
        () = inbox.is_full() => Ok(false),
    }
}

fn framed(packet: Bytes, encoding: Encoding) -> Result<Message, Error> {
    Ok(match encoding {
        Encoding::Binary => Message::Binary(packet),
        Encoding::Json => Message::Text(
            Utf8Bytes::try_from(packet).map_err(|error| Error::Utf8(error.to_string()))?,
        ),
    })
}

/// The peer said its close; the library's answer has to go out.
async fn finish(socket: &mut Socket) -> Result<(), Error> {
    while let Some(Ok(_)) = socket.next().await {}
    Ok(())
}

/// Closes with a code. Whoever does not take it is closed without.
async fn send_away(socket: &mut Socket, code: CloseCode) -> Result<(), Error> {
    let frame = CloseFrame { code, reason: Utf8Bytes::default() };
    let _ = socket.close(Some(frame)).await;
    Ok(())
}

#[expect(clippy::result_large_err, reason = "it is the library's")]
fn only_at_the_path(request: &Request, response: Response) -> Result<Response, ErrorResponse> {
    if request.uri().path() == PATH {
        return Ok(response);
    }
    let mut refusal = ErrorResponse::new(None);
    *refusal.status_mut() = StatusCode::NOT_FOUND;
    Err(refusal)
}
