//! The suite's service, for the reference server: each request says how it is to be answered.
//!
//! Knows what each method makes of its messages; must not know how anything is sent.

use std::mem;

use base64::Engine as _;
use prost::Message as _;
use wiretrial_proto::grpc::Status;
use wiretrial_proto::http2::RequestFields;
use wiretrial_respond::{Ended, Exchange, Metadata, Said, Service, Step};

use super::messages::{
    Answer, Any, CallError, FullStatus, Header, Payload, RequestInfo, ServerStreamRequest,
    StreamDefinition, StreamRequest, UnaryDefinition, UnaryRequest,
};
use super::{BINARY, DETAILS, fields, listed};

const SERVICE: &str = "/connectrpc.conformance.v1.ConformanceService/";
const TYPES: &str = "type.googleapis.com/connectrpc.conformance.v1.";
const MS: u64 = 1_000_000;

/// The suite's service.
#[derive(Debug)]
pub(super) struct Conformance {
    /// The longest message that is taken; 0: any.
    pub(super) limit: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Unary,
    ServerStream,
    ClientStream,
    Bidi,
}

impl Method {
    fn of(path: &str) -> Option<Self> {
        match path.strip_prefix(SERVICE)? {
            "Unary" => Some(Self::Unary),
            "ServerStream" => Some(Self::ServerStream),
            "ClientStream" => Some(Self::ClientStream),
            "BidiStream" => Some(Self::Bidi),
            _ => None,
        }
    }

    const fn request(self) -> &'static str {
        match self {
            Self::Unary => "UnaryRequest",
            Self::ServerStream => "ServerStreamRequest",
            Self::ClientStream => "ClientStreamRequest",
            Self::Bidi => "BidiStreamRequest",
        }
    }
}

impl Service for Conformance {
    fn has(&self, path: &str) -> bool {
        Method::of(path).is_some()
    }

    fn most_message(&self) -> u32 {
        if self.limit == 0 { u32::MAX } else { self.limit }
    }

    fn begin(
        &self,
        path: &str,
        fields: RequestFields<'_>,
        timeout: Option<u64>,
    ) -> Box<dyn Exchange> {
        Box::new(Talk {
            // It is asked for methods that there are.
            method: Method::of(path).unwrap_or(Method::Unary),
            headers: listed(fields.iter()),
            timeout_ms: timeout.map(|timeout| (timeout / MS).cast_signed()),
            definition: None,
            is_full_duplex: false,
            count: 0,
            requests: Vec::new(),
            said: 0,
        })
    }
}

/// One call.
#[derive(Debug)]
struct Talk {
    method: Method,
    headers: Vec<Header>,
    timeout_ms: Option<i64>,
    /// How to answer, of the first message.
    definition: Option<Definition>,
    is_full_duplex: bool,
    /// Messages that came, and those of them that no answer has told of.
    count: usize,
    requests: Vec<Any>,
    /// Answers.
    said: usize,
}

#[derive(Debug, Default)]
struct Definition {
    headers: Metadata,
    data: Vec<Vec<u8>>,
    delay: u64,
    error: Option<CallError>,
    trailers: Metadata,
}

impl Exchange for Talk {
    fn message(&mut self, message: &[u8]) -> Vec<Step> {
        self.count += 1;
        let type_url = format!("{TYPES}{}", self.method.request());
        self.requests.push(Any { type_url, value: message.to_vec() });
        if self.count == 1
            && let Err(error) = self.define(message)
        {
            return vec![ended(Status(3), &format!("no such message: {error}"))];
        }
        if !self.is_full_duplex {
            return Vec::new();
        }
        let mut steps = if self.count == 1 { self.head() } else { Vec::new() };
        if self.is_all_said() {
            steps.push(self.over());
        } else {
            steps.push(self.answer());
        }
        steps
    }

    fn end(&mut self) -> Vec<Step> {
        let takes_one = matches!(self.method, Method::Unary | Method::ServerStream);
        if takes_one && self.count != 1 {
            return vec![ended(Status::UNIMPLEMENTED, "the method takes one message")];
        }
        let mut steps = if self.is_full_duplex { Vec::new() } else { self.head() };
        while !self.is_all_said() {
            steps.push(self.answer());
        }
        steps.push(self.over());
        steps
    }
}

impl Talk {
    fn define(&mut self, message: &[u8]) -> Result<(), prost::DecodeError> {
        self.definition = match self.method {
            Method::Unary | Method::ClientStream => {
                UnaryRequest::decode(message)?.definition.map(Definition::from)
            }
            Method::ServerStream => {
                ServerStreamRequest::decode(message)?.definition.map(Definition::from)
            }
            Method::Bidi => {
                let request = StreamRequest::decode(message)?;
                self.is_full_duplex = request.full_duplex;
                request.definition.map(Definition::from)
            }
        };
        Ok(())
    }

    fn answers_once(&self) -> bool {
        matches!(self.method, Method::Unary | Method::ClientStream)
    }

    /// Is there nothing more to be said, but how it ends?
    fn is_all_said(&self) -> bool {
        let wanted = match &self.definition {
            Some(definition) if definition.error.is_some() && self.answers_once() => 0,
            _ if self.answers_once() => 1,
            definition => definition.as_ref().map_or(0, |definition| definition.data.len()),
        };
        self.said >= wanted
    }

    /// Who has nothing to say before the end says all in one.
    fn head(&mut self) -> Vec<Step> {
        let is_silent = self.is_all_said();
        let definition = self.definition.as_mut();
        let headers = definition.map(|definition| mem::take(&mut definition.headers));
        let headers = headers.unwrap_or_default();
        if is_silent && headers.is_empty() {
            return Vec::new();
        }
        vec![Said::Head(headers).into()]
    }

    fn answer(&mut self) -> Step {
        let default = Definition::default();
        let definition = self.definition.as_ref().unwrap_or(&default);
        let data = definition.data.get(self.said).cloned().unwrap_or_default();
        let after = definition.delay;
        let request_info = (self.said == 0 || self.is_full_duplex).then(|| self.seen());
        self.said += 1;
        let payload = Some(Payload { data, request_info });
        Step { after, said: Said::Message(Answer { payload }.encode_to_vec()) }
    }

    /// What was seen since the last answer: only the first one tells all of it.
    fn seen(&mut self) -> RequestInfo {
        RequestInfo {
            headers: mem::take(&mut self.headers),
            timeout_ms: self.timeout_ms.take(),
            requests: mem::take(&mut self.requests),
        }
    }

    fn over(&mut self) -> Step {
        let Some(definition) = self.definition.take() else {
            return ended(Status::OK, "");
        };
        let Definition { delay, error, mut trailers, .. } = definition;
        let Some(CallError { code, message, mut details }) = error else {
            let (status, said) = (Status::OK, String::new());
            return Said::End(Ended { status, said, trailers }).into();
        };
        if self.said == 0 {
            let type_url = format!("{TYPES}ConformancePayload.RequestInfo");
            details.push(Any { type_url, value: self.seen().encode_to_vec() });
        }
        let message = message.unwrap_or_default();
        if !details.is_empty() {
            let all = FullStatus { code, message: message.clone(), details };
            let value = BINARY.encode(all.encode_to_vec());
            trailers.push((DETAILS.to_owned(), value.into_bytes()));
        }
        let after = if self.answers_once() { delay } else { 0 };
        let status = Status(u16::try_from(code).unwrap_or(2));
        Step { after, said: Said::End(Ended { status, said: message, trailers }) }
    }
}

impl From<UnaryDefinition> for Definition {
    fn from(definition: UnaryDefinition) -> Self {
        let UnaryDefinition { headers, data, error, trailers, delay_ms } = definition;
        Self {
            headers: metadata(&headers),
            data: vec![data],
            delay: u64::from(delay_ms) * MS,
            error,
            trailers: metadata(&trailers),
        }
    }
}

impl From<StreamDefinition> for Definition {
    fn from(definition: StreamDefinition) -> Self {
        let StreamDefinition { headers, data, delay_ms, error, trailers } = definition;
        Self {
            headers: metadata(&headers),
            data,
            delay: u64::from(delay_ms) * MS,
            error,
            trailers: metadata(&trailers),
        }
    }
}

fn metadata(list: &[Header]) -> Metadata {
    fields(list).map(|(name, value)| (name, value.as_bytes().to_vec())).collect()
}

fn ended(status: Status, said: &str) -> Step {
    Said::End(Ended { status, said: said.to_owned(), trailers: Metadata::new() }).into()
}
