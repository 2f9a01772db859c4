//! Whom a plan loads, and with what.

use wiretrial_proto::websocket::DeflateConfig;

use super::wrong;
use crate::plan::document::{
    DeflateDocument, HttpDocument, HttpVersionDocument, MessageKind, StyxDocument, TargetDocument,
};
use crate::plan::expect::expect;
use crate::plan::grpc;
use crate::plan::message::payload;
use crate::plan::profile::Profile;
use crate::plan::{
    ContentRule, PayloadPlan, PlanError, Scheme, StyxPlan, Target, TargetUrl, TlsPlan, Windows,
};

pub(super) fn target(document: TargetDocument) -> Result<Target, PlanError> {
    let url = TargetUrl::parse(&document.url)?;
    let mut payload = payload(&document.message, &url)?;
    let grpc = grpc::grpc(&document.grpc, &url)?;
    if let Some(grpc) = &grpc {
        calls(&document)?;
        payload = grpc::payload(grpc, payload)?;
    }
    let styx = match url.scheme {
        Scheme::Styx(..) => Some(styx(document.styx)?),
        _ => None,
    };
    let expect = match &grpc {
        Some(grpc) => grpc::expect(grpc, document.grpc.status, &document.expect)?,
        None => expect(&document.expect, &url, &payload, document.http.sse)?,
    };
    let (http2, agrees) = version(document.http.version, &url)?;
    let http3 = document.http.version == HttpVersionDocument::Three;
    if http3 {
        over_quic(&url)?;
    }
    let windows = windows(&document.http)?;
    early_data(&document.http, document.tls.resumption, &url)?;
    let profile = profile(&document.http, &url)?;
    let method = document.http.method.unwrap_or_else(|| {
        if payload == PayloadPlan::None { "GET".to_owned() } else { "POST".to_owned() }
    });
    let target = Target {
        addresses: parse_all(&document.addresses, "addresses", "IP:PORT, e.g. 127.0.0.1:9001")?,
        sources: parse_all(&document.sources, "sources", "an IP address, e.g. 127.0.1.1")?,
        method,
        headers: document.http.headers,
        profile,
        http2: http2 || (url.grpc && !http3),
        http3,
        agrees: agrees && !url.grpc,
        windows,
        congestion: document.http.congestion,
        early_data: document.http.early_data,
        sse: document.http.sse,
        tls: url.secure.then(|| TlsPlan {
            insecure: document.tls.insecure,
            ca_file: document.tls.ca_file.map(Into::into),
            server_name: document.tls.server_name.unwrap_or_else(|| url.host.clone()),
            resumption: document.tls.resumption,
        }),
        text: document.message.kind == MessageKind::Text,
        styx,
        grpc,
        deflate: deflate(document.websocket.deflate, url.scheme)?,
        greetings: greetings(document.websocket.greetings, url.scheme)?,
        payload,
        expect,
        url,
    };
    websockets(&target)?;
    Ok(target)
}

/// A call is a POST, whatever else could be said.
fn calls(document: &TargetDocument) -> Result<(), PlanError> {
    if document.http.method.as_deref().is_some_and(|method| method != "POST") {
        return wrong("http.method: a call is a POST; leave the method out".to_owned());
    }
    if document.message.kind == MessageKind::Text || document.message.is_json {
        return wrong("message: messages of gRPC are bytes; leave kind and is_json out".to_owned());
    }
    Ok(())
}

/// Is HTTP/2 spoken, and does the server pick the version?
fn version(version: HttpVersionDocument, url: &TargetUrl) -> Result<(bool, bool), PlanError> {
    match (version, url.scheme) {
        (HttpVersionDocument::One, _)
        | (HttpVersionDocument::Three, Scheme::Http | Scheme::WebSocket) => Ok((false, false)),
        (HttpVersionDocument::Two, Scheme::Http | Scheme::WebSocket) => Ok((true, false)),
        (HttpVersionDocument::Auto, Scheme::Http) => Ok((false, url.secure)),
        (HttpVersionDocument::Auto, Scheme::WebSocket) => wrong(
            "http.version: of ws and wss the server picks none; use --http 1.1 or 2".to_owned(),
        ),
        _ => wrong(
            "http.version: only http, https, ws and wss have another; leave --http out".to_owned(),
        ),
    }
}

/// QUIC has no form without TLS.
fn over_quic(url: &TargetUrl) -> Result<(), PlanError> {
    if url.secure {
        return Ok(());
    }
    let (secure, others) = match url.scheme {
        _ if url.grpc => ("grpcs", "2"),
        Scheme::WebSocket => ("wss", "2 or 1.1"),
        _ => ("https", "2 or 1.1"),
    };
    wrong(format!(
        "http.version: HTTP/3 is always encrypted; use {secure}:// with --http 3, or --http {others}"
    ))
}

/// What WebSockets on streams carry: one message at a time each, and what comes is its reply.
fn websockets(target: &Target) -> Result<(), PlanError> {
    if target.url.scheme != Scheme::WebSocket || !target.has_streams() {
        return Ok(());
    }
    if target.greetings > 0 {
        return wrong(
            "websocket.greetings: over HTTP/2 and HTTP/3 a message that comes is the reply to the one on its stream; leave --greetings out, or use --http 1.1"
                .to_owned(),
        );
    }
    if target.expect.content == ContentRule::Broadcast {
        return wrong(
            "expect.content: a broadcast is loaded over HTTP/1.1; use --http 1.1".to_owned(),
        );
    }
    Ok(())
}

/// Which header fields each request has beside its own.
fn profile(document: &HttpDocument, url: &TargetUrl) -> Result<Option<Profile>, PlanError> {
    let Some(kind) = document.header_profile else { return Ok(None) };
    if url.scheme != Scheme::Http || url.grpc {
        return wrong(
            "http.header_profile: only requests of http and https have one; leave --header-profile out"
                .to_owned(),
        );
    }
    if document.sse {
        return wrong(
            "http.header_profile: a stream of events is asked for once; leave --header-profile out"
                .to_owned(),
        );
    }
    Ok(Some(Profile::new(kind, &document.headers)))
}

fn windows(document: &HttpDocument) -> Result<Windows, PlanError> {
    let Some(windows) = &document.windows else { return Ok(Windows::default()) };
    if document.version != HttpVersionDocument::Two {
        return wrong("http.windows: only HTTP/2 has windows; use --http 2".to_owned());
    }
    Windows::new(windows).map_err(PlanError)
}

fn early_data(document: &HttpDocument, resumes: bool, url: &TargetUrl) -> Result<(), PlanError> {
    if !document.early_data {
        return Ok(());
    }
    if document.version != HttpVersionDocument::Three {
        return wrong(
            "http.early_data: only over HTTP/3 requests go before the handshake's end; use --http 3"
                .to_owned(),
        );
    }
    if url.grpc || url.scheme != Scheme::Http || document.sse {
        return wrong(
            "http.early_data: only requests with one reply go before the handshake's end; leave --early-data out"
                .to_owned(),
        );
    }
    if !resumes {
        return wrong(
            "http.early_data: it takes an earlier session; leave --no-resumption out".to_owned(),
        );
    }
    Ok(())
}

fn greetings(count: u8, scheme: Scheme) -> Result<u8, PlanError> {
    let why = match scheme {
        Scheme::WebSocket => return Ok(count),
        _ if count == 0 => return Ok(0),
        Scheme::Http => "http replies to requests only",
        Scheme::Stream => "a byte stream has no messages that could be told apart",
        Scheme::Styx(..) => "what styx sends at the beginning is read anyway",
        Scheme::SocketIo => "events that the server emits are read anyway",
    };
    wrong(format!("websocket.greetings: only for ws and wss ({why}); leave --greetings out"))
}

fn deflate(
    document: Option<DeflateDocument>,
    scheme: Scheme,
) -> Result<Option<DeflateConfig>, PlanError> {
    let Some(document) = document else { return Ok(None) };
    if scheme != Scheme::WebSocket {
        return wrong("websocket.deflate: only ws and wss compress messages; leave it out".into());
    }
    let config = DeflateConfig {
        server_no_context_takeover: document.server_no_context_takeover,
        client_no_context_takeover: document.client_no_context_takeover,
        server_max_window_bits: document.server_max_window_bits,
        client_max_window_bits: document.client_max_window_bits,
        level: document.level,
    };
    config.validate().map_err(|error| PlanError(format!("websocket.deflate: {error}")))?;
    Ok(Some(config))
}

fn styx(document: StyxDocument) -> Result<StyxPlan, PlanError> {
    let StyxDocument { table_size, first_table, user, first_player, password, delay_ms, lobby } =
        document;
    if !(1..=1000).contains(&table_size) {
        return wrong(format!("styx.table_size: {table_size} is outside 1 to 1000"));
    }
    let Ok(delay_ms) = i32::try_from(delay_ms) else {
        return wrong(format!("styx.delay_ms: {delay_ms} is over {}", i32::MAX));
    };
    if user.len() > 1000 || password.len() > 1000 {
        return wrong("styx: user and password have at most 1000 bytes".to_owned());
    }
    Ok(StyxPlan { table_size, first_table, user, first_player, password, delay_ms, lobby })
}

fn parse_all<T: std::str::FromStr>(
    texts: &[String],
    member: &str,
    form: &str,
) -> Result<Vec<T>, PlanError> {
    let parse = |text: &String| {
        text.parse().map_err(|_| PlanError(format!("{member}: '{text}' is not {form}")))
    };
    texts.iter().map(parse).collect()
}
