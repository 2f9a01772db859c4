//! What fields say of a reply, and what a client keeps of it.
//!
//! Knows heads and what stands behind content, of gRPC too; must not know when they come.

use super::call;
use super::connection::Stream;
use super::inbound::{self, Response};
use crate::fields::FieldList;
use crate::grpc::{self, Deframer};

/// A message whose reply has not come whole.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Asked {
    pub(super) number: u64,
    /// The reply's; 0: its head has not come. Of gRPC, the call's.
    pub(super) status: u16,
    /// The reply has no content, whatever its head says.
    pub(super) is_head: bool,
    /// Of gRPC: where the messages of its content are.
    pub(super) frames: Deframer,
}

/// What fields say of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// `status` is what [`Asked`] keeps of it.
    Head { response: Response, status: u16 },
    /// Behind content: the status of a call, if it stands there.
    Behind { status: Option<u16> },
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

impl Said {
    /// What the fields of a head say.
    pub(super) fn read_head(
        fields: &FieldList,
        is_end: bool,
        is_grpc: bool,
    ) -> Result<Self, &'static str> {
        let response = inbound::response(fields).map_err(|malformed| malformed.0)?;
        let status = match response.status {
            ..200 => 0,
            http if is_grpc => call::head(http, fields, is_end)?,
            http => http,
        };
        Ok(Self::Head { response, status })
    }

    /// What fields say behind content.
    pub(super) fn read_behind(
        fields: &FieldList,
        is_end: bool,
        is_grpc: bool,
    ) -> Result<Self, &'static str> {
        if !is_end {
            return Err("fields inside a reply's content");
        }
        inbound::trailers(fields).map_err(|malformed| malformed.0)?;
        Ok(Self::Behind { status: if is_grpc { grpc::status_in(fields)? } else { None } })
    }

    /// It is said on this stream.
    #[inline]
    pub(super) fn hear(
        self,
        stream: &mut Stream<Asked>,
        is_end: bool,
        is_grpc: bool,
    ) -> Result<Came, &'static str> {
        match self {
            Self::Head { response, status } => {
                stream.has_head = response.status >= 200;
                stream.message.status = status;
                let has_none = stream.message.is_head || matches!(response.status, 204 | 304);
                stream.missing = if has_none { Some(0) } else { response.content_length };
                check_interim(response, is_end)?;
                if is_end {
                    stream.takes(0, true)?;
                }
                Ok(if stream.has_head { Came::Head } else { Came::Interim })
            }
            Self::Behind { status: behind } => {
                stream.takes(0, true)?;
                if is_grpc {
                    let Asked { status, frames, .. } = &mut stream.message;
                    *status = call::trailers(*status, *frames, behind)?;
                }
                Ok(Came::Trailers)
            }
        }
    }
}

fn check_interim(response: Response, is_end: bool) -> Result<(), &'static str> {
    match response.status {
        101 => Err("HTTP/2 has no 101"),
        100..200 if is_end => Err("a reply that ends before its final head"),
        _ => Ok(()),
    }
}
