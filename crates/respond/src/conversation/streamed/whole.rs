//! Answers whose content is there, and heads.
//!
//! Knows how an answer's fields are written. Must not know routes.

use super::codec::Codec;
use super::{FAULT, StreamedConversation};
use crate::content::TEXT;
use crate::route::Method;
use crate::sink::{Reply, Sink};

impl<C: Codec> StreamedConversation<C> {
    /// Sends a whole answer. `lines` are further fields, as HTTP/1.1 writes them.
    #[expect(clippy::too_many_arguments, reason = "they are the parts of one answer")]
    pub(super) fn give(
        &mut self,
        stream: u32,
        mut reply: Reply,
        status: u16,
        kind: &str,
        lines: &str,
        body: &[u8],
        method: Method,
        sink: &mut Sink<'_>,
    ) {
        let altered;
        let body = if reply.alters() {
            let mut content = body.to_vec();
            reply.alter(&mut content);
            altered = content;
            &altered[..]
        } else {
            body
        };
        let has_none = matches!(status, 204 | 304);
        let length = (!has_none).then_some(body.len() as u64 + u64::from(reply.misstates()));
        let is_end = body.is_empty() || has_none || method == Method::Head;
        self.head(stream, status, kind, lines, length, is_end, sink);
        if !is_end {
            self.codec.content(stream, body, true, sink.out);
        }
        self.finish(reply, sink);
    }

    /// A whole answer with this content.
    pub(super) fn give_content(
        &mut self,
        stream: u32,
        reply: Reply,
        content: &[u8],
        kind: &str,
        sink: &mut Sink<'_>,
    ) {
        let (status, kind, content) =
            if reply.fails() { (500, TEXT, FAULT) } else { (200, kind, content) };
        self.give(stream, reply, status, kind, "", content, Method::Post, sink);
    }

    #[expect(clippy::too_many_arguments, reason = "they are the parts of one head")]
    pub(super) fn head(
        &mut self,
        stream: u32,
        status: u16,
        kind: &str,
        lines: &str,
        length: Option<u64>,
        is_end: bool,
        sink: &mut Sink<'_>,
    ) {
        let digits = length.map(|length| length.to_string());
        let named = lines.lines().filter_map(|line| line.split_once(": ")).map(|(name, value)| {
            // Names are in lower case here.
            (name.to_ascii_lowercase(), value.as_bytes())
        });
        // What HTTP/1.1 says of its connection means nothing here.
        let further: Vec<_> =
            named.filter(|(name, _)| !matches!(name.as_str(), "upgrade" | "connection")).collect();
        let kind = (!kind.is_empty()).then_some(("content-type", kind.as_bytes()));
        let length = digits.as_ref().map(|digits| ("content-length", digits.as_bytes()));
        let further = further.iter().map(|(name, value)| (name.as_str(), *value));
        let fields: Vec<_> = kind.into_iter().chain(length).chain(further).collect();
        self.codec.respond(stream, status, &fields, is_end, sink.out);
    }
}
