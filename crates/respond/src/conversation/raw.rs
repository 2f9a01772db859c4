//! The raw echo.
//!
//! Knows bytes: what one read brought is one reply. Must not know sockets.

use std::convert::Infallible;
use std::ops::ControlFlow;

use wiretrial_proto::{ProtocolError, Scratch, Step};

use super::Conversation;
use crate::hub::Member;
use crate::sink::Sink;

/// Bytes come back as they are.
#[derive(Debug)]
pub(crate) struct RawEcho;

impl Conversation for RawEcho {
    type Event<'a> = &'a mut [u8];
    type Upgrade = Infallible;

    #[inline]
    fn receive<'a>(
        &mut self,
        input: &'a mut [u8],
        _scratch: &'a mut Scratch,
        _out: &mut Vec<u8>,
    ) -> Result<Step<&'a mut [u8]>, ProtocolError> {
        Ok(Step { consumed: input.len(), event: (!input.is_empty()).then_some(input) })
    }

    #[inline]
    fn on_event(
        &mut self,
        bytes: &mut Self::Event<'_>,
        sink: &mut Sink<'_>,
        _member: &mut Member<'_>,
    ) -> ControlFlow<Infallible> {
        let mut reply = sink.begin();
        reply.alter(bytes);
        sink.out.extend_from_slice(bytes);
        sink.end(reply);
        ControlFlow::Continue(())
    }
}
