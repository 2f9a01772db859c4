//! What fields say of a reply, and what a client keeps of it.
//!
//! Knows heads and what stands behind content, of gRPC too; must not know when they come.

use super::connection::Heard;
use crate::fielded::inbound::{self, Response};
use crate::fielded::{Rendered, call};
use crate::fields::FieldList;
use crate::grpc::{self, Deframer};

/// A message whose reply has not come whole.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a message")]
pub(super) struct Asked {
    pub(super) number: u64,
    /// The reply's; 0: its head has not come. Of a call of gRPC, that of the call.
    pub(super) status: u16,
    /// The reply has no content, whatever its head says.
    pub(super) is_head: bool,
    /// It is a call of gRPC.
    pub(super) is_call: bool,
    /// Of a call: its reply may have messages in gzip.
    pub(super) accepts_gzip: bool,
    /// Of a call: it has, and where that was asked for.
    pub(super) is_gzip: bool,
    /// Of a call: where the messages of its content are.
    pub(super) frames: Deframer,
}

/// What fields say of a reply, to a request of HTTP and to a call of gRPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// `called` is what [`Asked`] keeps of it where it replies to a call, or why it is no such reply; `is_gzip`:
    /// those messages of it that are compressed are so.
    Head { response: Response, called: Result<u16, &'static str>, is_gzip: bool },
    /// Behind content: the status of a call, if it stands there.
    Behind { status: Result<Option<u16>, &'static str> },
}

/// Which fields came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Came {
    /// Of a head that another one follows.
    Interim,
    Head,
    /// Behind the content.
    Trailers,
}

impl Asked {
    /// The message with this number is such a request.
    #[inline]
    pub(super) fn of(number: u64, request: &Rendered) -> Self {
        let (is_head, is_call) = (request.is_head(), request.is_call());
        let accepts_gzip = request.accepts_gzip();
        Self { number, is_head, is_call, accepts_gzip, ..Self::default() }
    }

    /// Is it a call whose status is known, and is not OK?
    pub(super) fn has_failed(&self) -> bool {
        self.is_call && !matches!(self.status, 0 | call::MISSING)
    }
}

impl Said {
    /// What the fields of a head say.
    pub(super) fn read_head(fields: &FieldList, is_end: bool) -> Result<Self, &'static str> {
        let response = inbound::response(fields).map_err(|malformed| malformed.0)?;
        let called = match response.status {
            ..200 => Ok(0),
            http => call::head(http, fields, is_end),
        };
        let is_gzip = called == Ok(call::MISSING)
            && fields.get(grpc::ENCODING.as_bytes()).is_some_and(grpc::is_gzip);
        Ok(Self::Head { response, called, is_gzip })
    }

    /// What fields say behind content.
    pub(super) fn read_behind(fields: &FieldList, is_end: bool) -> Result<Self, &'static str> {
        if !is_end {
            return Err("fields inside a reply's content");
        }
        inbound::trailers(fields).map_err(|malformed| malformed.0)?;
        Ok(Self::Behind { status: grpc::status_in(fields) })
    }

    /// It is said on this stream. A head that is no reply to a call leaves the call's stream as it was.
    #[inline]
    pub(super) fn hear(self, heard: &mut Heard<Asked>, is_end: bool) -> Result<Came, &'static str> {
        match self {
            Self::Head { response, called, is_gzip } => {
                let status = match response.status {
                    ..200 => 0,
                    _ if heard.message.is_call => called?,
                    http => http,
                };
                heard.message.status = status;
                heard.message.is_gzip = is_gzip && heard.message.accepts_gzip;
                heard.missing = response.promised(heard.message.is_head);
                heard.has_head = response.is_final(is_end)?;
                if is_end {
                    heard.takes(0, true)?;
                }
                Ok(if heard.has_head { Came::Head } else { Came::Interim })
            }
            Self::Behind { status: behind } => {
                heard.takes(0, true)?;
                if let Asked { is_call: true, status, frames, .. } = &mut heard.message {
                    *status = call::trailers(*status, *frames, behind?)?;
                }
                Ok(Came::Trailers)
            }
        }
    }
}
