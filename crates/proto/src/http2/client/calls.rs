//! Calls of gRPC: their messages out, one by one where they are so, and those of their replies in.
//!
//! Knows where messages are in content; must not know what they say.

use super::Http2Client;
use crate::fielded::call::{self, Look};
use crate::grpc::BadMessage;
use crate::http2::frame::ErrorCode;
use crate::http2::said::Asked;
use crate::{Event, Message, ProtocolError, Scratch, Tag};

impl Http2Client {
    /// Of calls that take replies in gzip: has a message come in it? None: there are no such calls.
    pub fn gzip(&self) -> Option<bool> {
        self.requests.iter().any(|request| request.whole.accepts_gzip()).then_some(self.packed.came)
    }

    /// Appends a call whose messages follow: this is the first of them. Gives its stream, on which they are
    /// [said](Self::say). Requires that the session is open.
    pub fn encode_first(&mut self, message: &Message<'_>, out: &mut Vec<u8>) -> Option<u32> {
        self.ask(message, false, out)
    }

    /// Appends the next message of a call, with the last one its end. Nothing where the call is over.
    pub fn say(&mut self, stream: u32, message: &[u8], is_last: bool, out: &mut Vec<u8>) {
        let Some(found) = self.connection.stream(stream) else { return };
        found.we_go_on = !is_last;
        self.connection.send(stream, message, is_last, out);
    }

    /// What the server said of the last call that it did not end with OK, as it stands in its field.
    pub fn said(&self) -> &[u8] {
        &self.said
    }

    /// Looks where the messages of a call are in a piece of its reply.
    #[inline]
    pub(super) fn look_at(&mut self, id: u32, piece: &[u8]) -> Result<Look, &'static str> {
        if !self.has_calls {
            return Ok(Look::Tell);
        }
        let stream = self.connection.stream(id).map(|stream| &mut stream.heard.message);
        match stream {
            // What another server than one of gRPC says has none.
            Some(Asked { is_call: true, status: call::MISSING, is_gzip: true, .. }) => {
                Ok(Look::Unpack)
            }
            Some(Asked { is_call: true, status: call::MISSING, frames, .. }) => {
                frames.pass(piece).map(|_| Look::Await)
            }
            _ => Ok(Look::Tell),
        }
    }

    /// Lays a piece of a reply as it is with messages that are not compressed into the memory that is shared.
    pub(super) fn unpack(
        &mut self,
        id: u32,
        piece: &[u8],
        scratch: &mut Scratch,
    ) -> Result<(), BadMessage> {
        let Self { connection, packed, .. } = self;
        let asked = connection.stream(id).map(|stream| stream.heard.message);
        let mut frames = asked.unwrap_or_default().frames;
        let Scratch { gunzip, unpacked, .. } = scratch;
        let most = connection.limits.max_inflated as usize;
        let is_open = |id| connection.stream(id).is_some();
        packed.unpack((id, &mut frames), (piece, most), gunzip, unpacked, is_open)?;
        if let Some(stream) = connection.stream(id) {
            stream.heard.message.frames = frames;
        }
        Ok(())
    }

    /// A call has failed for a message of its reply; its stream is nothing that HTTP/2 would forbid.
    #[cold]
    pub(super) fn fail_of(
        &mut self,
        id: u32,
        bad: BadMessage,
        out: &mut Vec<u8>,
    ) -> Option<Event<'static>> {
        let asked = self.connection.give_up(id, ErrorCode::Cancel, out)?;
        let error = ProtocolError::new(bad.class(), bad.words());
        Some(Event::Failed { tag: Tag::Number(asked.number), error })
    }
}
