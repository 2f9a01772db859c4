//! The suite's messages, as far as the testee looks into them: fields by their numbers.
//!
//! Knows the wire alone; must not know what a field asks for.

/// A message of any type.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Any {
    #[prost(string, tag = "1")]
    pub(crate) type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) value: Vec<u8>,
}

/// The values of a field, or of metadata.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Header {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, repeated, tag = "2")]
    pub(crate) value: Vec<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Credentials {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) cert: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) key: Vec<u8>,
}

/// What server is wanted.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ServerRequest {
    #[prost(bool, tag = "4")]
    pub(crate) use_tls: bool,
    #[prost(uint32, tag = "6")]
    pub(crate) message_receive_limit: u32,
    #[prost(message, optional, tag = "7")]
    pub(crate) server_creds: Option<Credentials>,
}

/// Where it listens.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ServerResponse {
    #[prost(string, tag = "1")]
    pub(crate) host: String,
    #[prost(uint32, tag = "2")]
    pub(crate) port: u32,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) pem_cert: Vec<u8>,
}

/// What call is wanted.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ClientRequest {
    #[prost(string, tag = "1")]
    pub(crate) test_name: String,
    #[prost(int32, tag = "5")]
    pub(crate) compression: i32,
    #[prost(string, tag = "6")]
    pub(crate) host: String,
    #[prost(uint32, tag = "7")]
    pub(crate) port: u32,
    #[prost(bytes = "vec", tag = "8")]
    pub(crate) server_tls_cert: Vec<u8>,
    #[prost(string, optional, tag = "11")]
    pub(crate) service: Option<String>,
    #[prost(string, optional, tag = "12")]
    pub(crate) method: Option<String>,
    #[prost(int32, tag = "13")]
    pub(crate) stream_type: i32,
    #[prost(message, repeated, tag = "15")]
    pub(crate) request_headers: Vec<Header>,
    #[prost(message, repeated, tag = "16")]
    pub(crate) request_messages: Vec<Any>,
    #[prost(uint32, optional, tag = "17")]
    pub(crate) timeout_ms: Option<u32>,
    #[prost(message, optional, tag = "19")]
    pub(crate) cancel: Option<Cancel>,
}

/// When a call is taken back; where nothing is said, when it was sent.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Cancel {
    #[prost(message, optional, tag = "1")]
    pub(crate) before_close_send: Option<Nothing>,
    #[prost(uint32, optional, tag = "2")]
    pub(crate) after_close_send_ms: Option<u32>,
    #[prost(uint32, optional, tag = "3")]
    pub(crate) after_num_responses: Option<u32>,
}

/// That it is there is all that it says.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Nothing {}

/// What came of it.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ClientResponse {
    #[prost(string, tag = "1")]
    pub(crate) test_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) response: Option<CallResult>,
    #[prost(message, optional, tag = "3")]
    pub(crate) error: Option<Trouble>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CallResult {
    #[prost(message, repeated, tag = "1")]
    pub(crate) response_headers: Vec<Header>,
    /// As they came.
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub(crate) payloads: Vec<Vec<u8>>,
    #[prost(message, optional, tag = "3")]
    pub(crate) error: Option<CallError>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) response_trailers: Vec<Header>,
}

/// The call could not be made.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Trouble {
    #[prost(string, tag = "1")]
    pub(crate) message: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CallError {
    #[prost(int32, tag = "1")]
    pub(crate) code: i32,
    #[prost(string, optional, tag = "2")]
    pub(crate) message: Option<String>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) details: Vec<Any>,
}

/// A status with its details, as it stands in `grpc-status-details-bin`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FullStatus {
    #[prost(int32, tag = "1")]
    pub(crate) code: i32,
    #[prost(string, tag = "2")]
    pub(crate) message: String,
    #[prost(message, repeated, tag = "3")]
    pub(crate) details: Vec<Any>,
}

/// A request of a method that answers once.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct UnaryRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) definition: Option<UnaryDefinition>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct UnaryDefinition {
    #[prost(message, repeated, tag = "1")]
    pub(crate) headers: Vec<Header>,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) data: Vec<u8>,
    #[prost(message, optional, tag = "3")]
    pub(crate) error: Option<CallError>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) trailers: Vec<Header>,
    #[prost(uint32, tag = "6")]
    pub(crate) delay_ms: u32,
}

/// A request of a method that streams.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct StreamRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) definition: Option<StreamDefinition>,
    /// Of a method whose client streams too.
    #[prost(bool, tag = "2")]
    pub(crate) full_duplex: bool,
}

/// A request of a method that streams where its client does not: what has the other's number is of no interest.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ServerStreamRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) definition: Option<StreamDefinition>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct StreamDefinition {
    #[prost(message, repeated, tag = "1")]
    pub(crate) headers: Vec<Header>,
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub(crate) data: Vec<Vec<u8>>,
    #[prost(uint32, tag = "3")]
    pub(crate) delay_ms: u32,
    #[prost(message, optional, tag = "4")]
    pub(crate) error: Option<CallError>,
    #[prost(message, repeated, tag = "5")]
    pub(crate) trailers: Vec<Header>,
}

/// What each method answers.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Answer {
    #[prost(message, optional, tag = "1")]
    pub(crate) payload: Option<Payload>,
}

/// The same, as the client passes it on.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct AnswerAsItCame {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) payload: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Payload {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) data: Vec<u8>,
    #[prost(message, optional, tag = "2")]
    pub(crate) request_info: Option<RequestInfo>,
}

/// What a server saw of a request.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RequestInfo {
    #[prost(message, repeated, tag = "1")]
    pub(crate) headers: Vec<Header>,
    #[prost(int64, optional, tag = "2")]
    pub(crate) timeout_ms: Option<i64>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) requests: Vec<Any>,
}
