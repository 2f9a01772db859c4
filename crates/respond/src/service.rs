//! Services of gRPC that whoever starts a server puts up beside its own one.
//!
//! Knows what a call says, and what is said to it when. Must not know streams, nor how fields are written.

use std::fmt;

use wiretrial_proto::grpc::Status;
use wiretrial_proto::http2::RequestFields;

/// Metadata, in order: names in lower case, values as they stand in their fields.
pub type Metadata = Vec<(String, Vec<u8>)>;

/// Methods, by their paths.
pub trait Service: fmt::Debug + Send + Sync {
    /// Is there such a method?
    fn has(&self, path: &str) -> bool;

    /// The longest message that is taken, bytes.
    fn most_message(&self) -> u32;

    /// A call of a method that there is; `timeout` is how long it may take, nanoseconds. Who keeps to it is the
    /// server.
    fn begin(
        &self,
        path: &str,
        fields: RequestFields<'_>,
        timeout: Option<u64>,
    ) -> Box<dyn Exchange>;
}

/// One call, as its method sees it.
pub trait Exchange: fmt::Debug + Send {
    /// A message came whole: what is said to it.
    fn message(&mut self, message: &[u8]) -> Vec<Step>;

    /// The last message came: what is still to be said. Not asked after an [end](Said::End).
    fn end(&mut self) -> Vec<Step>;
}

/// Something that is said to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// So long after what was said before it, or after what it is an answer to, nanoseconds.
    pub after: u64,
    /// What.
    pub said: Said,
}

/// What may be said. Without a head there is one of the server's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// Metadata before the messages.
    Head(Metadata),
    /// A message.
    Message(Vec<u8>),
    /// The call is over. Where nothing was said before, this is all in one.
    End(Ended),
}

/// How a call ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Its status.
    pub status: Status,
    /// What is said of it; may be empty.
    pub said: String,
    /// Metadata behind the messages.
    pub trailers: Metadata,
}

impl From<Said> for Step {
    /// At once.
    fn from(said: Said) -> Self {
        Self { after: 0, said }
    }
}
