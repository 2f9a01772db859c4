//! Calls of gRPC: their messages out, one by one where they are so, and what came of their replies.
//!
//! Knows where messages and statuses are in a reply; must not know what they say, nor other streams than a call's own.
//!
//! Unlike a frame of HTTP/2, fields do not tell whether something comes behind them: a head may turn out to be all of a
//! reply, and only then its status counts.

use super::Http3Client;
use crate::fielded::Rendered;
use crate::fielded::call::{self, Look, MISSING};
use crate::fields::FieldList;
use crate::grpc::{self, BadMessage, Deframer};
use crate::http3::frame;
use crate::http3::numbers;
use crate::http3::outgoing::Outgoing;
use crate::{Message, Scratch};

/// The reply to a call, as far as it has come.
#[derive(Debug)]
pub(super) struct Called {
    /// Its status so far: as [`call::head`] has it.
    status: u16,
    /// The status in its head, which counts where nothing comes behind that.
    alone: Option<u16>,
    /// Why it is none, where something does.
    wrong: Option<&'static str>,
    /// What is said of a status that is not OK, as it came.
    said: Vec<u8>,
    /// It may have messages in gzip.
    accepts_gzip: bool,
    /// It has.
    is_gzip: bool,
    /// Where the messages of its content are.
    frames: Deframer,
}

impl Called {
    /// Nothing of it has come. None: the request is no call.
    pub(super) fn of(request: &Rendered) -> Option<Self> {
        request.is_call().then(|| Self {
            status: MISSING,
            alone: None,
            wrong: None,
            said: Vec::new(),
            accepts_gzip: request.accepts_gzip(),
            is_gzip: false,
            frames: Deframer::default(),
        })
    }

    /// Its head came, with this status of HTTP.
    pub(super) fn head(&mut self, http: u16, fields: &FieldList) -> Result<(), &'static str> {
        self.alone = grpc::status_in(fields)?;
        match call::head(http, fields, false) {
            Ok(status) => self.status = status,
            Err(wrong) if self.alone.is_some() => self.wrong = Some(wrong),
            Err(wrong) => return Err(wrong),
        }
        let encoding = fields.get(grpc::ENCODING.as_bytes());
        let is_reply = self.status == MISSING && self.wrong.is_none();
        self.is_gzip = self.accepts_gzip && is_reply && encoding.is_some_and(grpc::is_gzip);
        self.hear(self.alone, fields);
        Ok(())
    }

    /// Fields came behind its content.
    pub(super) fn trailers(&mut self, fields: &FieldList) -> Result<(), &'static str> {
        self.goes_on()?;
        self.status = call::trailers(self.status, self.frames, grpc::status_in(fields)?)?;
        self.hear(Some(self.status), fields);
        Ok(())
    }

    /// A piece of its content came. What another server than one of gRPC says has no messages.
    pub(super) fn look_at(&mut self, piece: &[u8]) -> Result<Look, &'static str> {
        self.goes_on()?;
        match (self.status, self.is_gzip) {
            (MISSING, true) => Ok(Look::Unpack),
            (MISSING, false) => self.frames.pass(piece).map(|_| Look::Await),
            _ => Ok(Look::Tell),
        }
    }

    /// Nothing comes behind what came.
    pub(super) fn end(&mut self) {
        self.status = self.alone.unwrap_or(self.status);
    }

    /// Something comes behind its head.
    fn goes_on(&mut self) -> Result<(), &'static str> {
        self.alone = None;
        self.wrong.map_or(Ok(()), Err)
    }

    /// Keeps what is said of a status.
    fn hear(&mut self, status: Option<u16>, fields: &FieldList) {
        if !matches!(status, None | Some(0 | MISSING)) {
            let text = fields.get(grpc::MESSAGE.as_bytes());
            self.said = text.unwrap_or_default().to_vec();
        }
    }
}

impl Http3Client {
    /// Of calls that take replies in gzip: has a message come in it? None: there are no such calls.
    pub fn gzip(&self) -> Option<bool> {
        let accepts = self.requests.iter().any(|request| request.rendered(false).accepts_gzip());
        accepts.then_some(self.packed.came)
    }

    /// Appends a call whose messages follow: this is the first of them. Gives what they are [said](Self::say) by.
    /// Requires as much as [`encode`](Self::encode).
    pub fn encode_first(&mut self, first: &Message<'_>, out: &mut Outgoing) -> u32 {
        self.ask(first, false, out)
    }

    /// Appends the next message of a call, with the last one its end. Nothing where the call is over, or the server
    /// wants no more of it.
    pub fn say(&mut self, call: u32, message: &[u8], is_last: bool, out: &mut Outgoing) {
        let Some(exchange) = self.streams.get_mut(call).filter(|it| it.goes_on) else { return };
        exchange.goes_on = !is_last;
        out.write(numbers::stream(call), is_last, |bytes| {
            frame::write_data_head(message.len() as u64, bytes);
            bytes.extend_from_slice(message);
        });
    }

    /// What the server said of the last call that it did not end with OK, as it stands in its field.
    pub fn said(&self) -> &[u8] {
        &self.said
    }

    /// Lays a piece of a reply as it is with messages that are not compressed into the memory that is shared.
    pub(super) fn unpack(
        &mut self,
        key: u32,
        piece: &[u8],
        scratch: &mut Scratch,
    ) -> Result<(), BadMessage> {
        let Self { streams, packed, limits, .. } = self;
        let mut frames = Deframer::default();
        if let Some(Some(call)) = streams.get(key).map(|exchange| &exchange.call) {
            frames = call.frames;
        }
        let Scratch { gunzip, unpacked, .. } = scratch;
        let most = limits.max_inflated as usize;
        let is_open = |key| streams.get(key).is_some();
        packed.unpack((key, &mut frames), (piece, most), gunzip, unpacked, is_open)?;
        if let Some(Some(call)) = streams.get_mut(key).map(|exchange| &mut exchange.call) {
            call.frames = frames;
        }
        Ok(())
    }

    /// The status of a reply that is whole; none: it has none. What was said of it is kept.
    pub(super) fn status_of(&mut self, call: Called) -> Option<u16> {
        if !matches!(call.status, 0 | MISSING) {
            self.said = call.said;
        }
        (call.status != MISSING).then_some(call.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::HeadPart;
    use crate::http3::Http3Request;

    const KIND: (&str, &str) = ("content-type", "application/grpc");

    fn called() -> Called {
        let headers = [(grpc::ACCEPTED, vec![HeadPart::Text("gzip")])];
        let request = Http3Request::call("https", "/a.B/C", "h", &headers, false).unwrap();
        Called::of(request.rendered(false)).unwrap()
    }

    /// The status of a reply with this head, content or not, and these fields behind it.
    fn status(
        (http, head): (u16, &[(&str, &str)]),
        content: &[u8],
        trailers: Option<&[(&str, &str)]>,
    ) -> Result<u16, &'static str> {
        let mut call = called();
        call.head(http, &FieldList::of(head))?;
        if !content.is_empty() {
            call.look_at(content)?;
        }
        if let Some(fields) = trailers {
            call.trailers(&FieldList::of(fields))?;
        }
        call.end();
        Ok(call.status)
    }

    #[test]
    fn a_status_in_the_head_counts_where_nothing_comes_behind_it() {
        let (html, five) = (("content-type", "text/html"), ("grpc-status", "5"));
        let message = [0, 0, 0, 0, 1, 7];
        let ok: &[(&str, &str)] = &[("grpc-status", "0")];
        for (head, status_alone, status_of_more) in [
            ((200, &[KIND, five][..]), Ok(5), Ok(0)),
            ((200, &[five]), Ok(5), Err(())),
            ((200, &[html, five]), Ok(5), Err(())),
            ((500, &[five]), Ok(5), Ok(0)),
            ((503, &[html]), Ok(503), Ok(0)),
            ((200, &[KIND]), Ok(MISSING), Ok(0)),
        ] {
            let alone = status(head, &[], None).map_err(|_| ());
            assert_eq!(alone, status_alone, "{head:?}");
            let more = status(head, &message, Some(ok)).map_err(|_| ());
            assert_eq!(more, status_of_more, "{head:?}");
        }
        assert!(status((200, &[html]), &[], None).is_err());
        assert!(status((200, &[KIND, ("grpc-status", "five")]), &[], None).is_err());
        assert!(status((200, &[KIND]), &message[..3], Some(ok)).is_err(), "inside a message");
        assert_eq!(status((200, &[KIND]), &message, None), Ok(MISSING));
        assert_eq!(status((503, &[html]), b"sorry", None), Ok(503));
    }

    #[test]
    fn what_is_said_of_a_status_is_kept() {
        let mut call = called();
        let said = ("grpc-message", "no%20such");
        call.head(200, &FieldList::of(&[KIND, ("grpc-encoding", "gzip")])).unwrap();
        assert!(call.is_gzip && call.said.is_empty());
        call.trailers(&FieldList::of(&[("grpc-status", "5"), said])).unwrap();
        assert_eq!(call.said, b"no%20such");
        let mut call = called();
        call.head(200, &FieldList::of(&[KIND, ("grpc-status", "0"), said])).unwrap();
        assert!(!call.is_gzip && call.said.is_empty());
    }
}
