//! A player on a byte stream.
//!
//! Knows where packets begin and end in it; must not know what they say.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::binary;
use crate::hall::Hall;
use crate::outbox::{self, Inbox};
use crate::packet::{Encoding, LARGEST, NoPacket, Reply};
use crate::session::Session;

/// Room for each read, bytes.
const ROOM: usize = 8 * 1024;
/// How long a peer that is sent away may go on sending.
const LINGER: Duration = Duration::from_secs(1);

pub(crate) async fn talk(mut stream: TcpStream, hall: Arc<Hall>) -> io::Result<()> {
    let mut input = BytesMut::with_capacity(ROOM);
    if stream.read_buf(&mut input).await? == 0 {
        return Ok(());
    }
    let encoding = Encoding::of_first(input[0]);
    let (outbox, mut inbox) = outbox::open(encoding);
    let mut session = Session::new(hall, outbox);
    let (mut batch, mut out) = (Vec::new(), Vec::new());
    loop {
        if take(&mut input, encoding, &mut session).is_err() {
            drop(session);
            inbox.take_rest(&mut batch);
            batch.push(encoding.write(&Reply::Bad { class: 0, error: 0 }));
            frame(&mut batch, encoding, &mut out);
            return send_away(stream, &inbox, &out).await;
        }
        input.reserve(ROOM);
        tokio::select! {
            read = stream.read_buf(&mut input) => {
                if read? == 0 {
                    return Ok(());
                }
            }
            fits = inbox.take(&mut batch) => {
                if !fits {
                    return Ok(());
                }
                frame(&mut batch, encoding, &mut out);
                if !write(&mut stream, &inbox, &out).await? {
                    return Ok(());
                }
                out.clear();
            }
        }
    }
}

/// Hands every whole packet at the front of the input to the session.
fn take(input: &mut BytesMut, encoding: Encoding, session: &mut Session) -> Result<(), NoPacket> {
    while let Some((packet, whole)) = next(input, encoding)? {
        let request = encoding.read(&input[..packet])?;
        input.advance(whole);
        session.hear(request);
    }
    Ok(())
}

/// Length of the next packet, and of the part of the stream that it takes up.
fn next(input: &[u8], encoding: Encoding) -> Result<Option<(usize, usize)>, NoPacket> {
    match encoding {
        Encoding::Binary => {
            let length = binary::length(input)?.filter(|length| *length <= input.len());
            Ok(length.map(|length| (length, length)))
        }
        Encoding::Json => {
            let searched = &input[..input.len().min(LARGEST + 1)];
            match searched.iter().position(|byte| *byte == b'\n') {
                Some(end) => Ok(Some((end, end + 1))),
                None if input.len() > LARGEST => Err(NoPacket),
                None => Ok(None),
            }
        }
    }
}

/// Moves packets to what goes out.
fn frame(batch: &mut Vec<Bytes>, encoding: Encoding, out: &mut Vec<u8>) {
    for packet in batch.drain(..) {
        out.extend_from_slice(&packet);
        if encoding == Encoding::Json {
            out.push(b'\n');
        }
    }
}

/// Writes all of it, unless so much comes meanwhile that it is given up: false.
async fn write(stream: &mut TcpStream, inbox: &Inbox, out: &[u8]) -> io::Result<bool> {
    tokio::select! {
        written = stream.write_all(out) => written.map(|()| true),
        () = inbox.is_full() => Ok(false),
    }
}

/// Says the last words, and waits a while for the peer to hear them: closing on unread bytes would
/// send RST, which may overtake them.
async fn send_away(mut stream: TcpStream, inbox: &Inbox, out: &[u8]) -> io::Result<()> {
    if write(&mut stream, inbox, out).await? {
        stream.shutdown().await?;
        let mut rest = [0; 4096];
        let drained = async {
            while stream.read(&mut rest).await? > 0 {}
            io::Result::Ok(())
        };
        let _ = timeout(LINGER, drained).await;
    }
    Ok(())
}
