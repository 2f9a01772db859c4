//! Properties: what one side of HTTP/1.1 writes, the other reads, however the bytes are split.

use crate::common::{RequestSeen, Seen, cuts_from, run_client, run_server};
use proptest::collection::vec;
use proptest::prelude::*;
use wiretrial_proto::http1::{BodyLength, Http1Client, Http1Server, PayloadLength, RequestHead};
use wiretrial_proto::{ClientSession, Message, MessageKind};

#[derive(Debug, Clone)]
struct Exchange {
    method: &'static str,
    status: u16,
    body: Vec<u8>,
    /// Sizes of the chunks that the body is sent in; none: with its length.
    chunks: Option<Vec<usize>>,
}

fn exchange() -> impl Strategy<Value = Exchange> {
    let method = prop::sample::select(vec!["GET", "HEAD", "POST"]);
    let status = prop::sample::select(vec![200_u16, 204, 304, 404, 500]);
    let chunks = prop::option::of(vec(0..40_usize, 0..6));
    (method, status, vec(any::<u8>(), 0..300), chunks)
        .prop_map(|(method, status, body, chunks)| Exchange { method, status, body, chunks })
}

proptest! {
    #[test]
    fn the_client_reads_what_the_server_answers(
        exchanges in vec(exchange(), 1..8),
        distances in vec(any::<u8>(), 0..60),
    ) {
        let heads = exchanges.iter().map(|exchange| head(exchange.method, PayloadLength::None));
        let mut client = Http1Client::new(heads.collect());
        let mut requests = Vec::new();
        for route in 0..exchanges.len() {
            client.encode(&Message { number: 0, route, payload: b"", fill: None }, &mut requests);
        }
        let mut server = Http1Server::new();
        let asked = run_server(&mut server, &requests, &cuts_from(&distances, requests.len())).seen;
        prop_assert_eq!(asked.len(), 2 * exchanges.len());

        let mut replies = Vec::new();
        for exchange in &exchanges {
            answer(&mut server, exchange, &mut replies);
        }
        let cuts = cuts_from(&distances, replies.len());
        let seen = run_client(&mut client, &replies, &cuts, true).seen;
        let expected: Vec<Seen> = exchanges.iter().map(expected).collect();
        prop_assert_eq!(seen, expected);
    }

    #[test]
    fn the_server_reads_what_the_client_sends(
        payloads in vec((any::<bool>(), vec(any::<u8>(), 0..300)), 1..8),
        distances in vec(any::<u8>(), 0..60),
    ) {
        let heads = payloads.iter().map(|(fixed, payload)| head("POST", match fixed {
            true => PayloadLength::Fixed(payload.len() as u64),
            false => PayloadLength::Varying,
        }));
        let mut client = Http1Client::new(heads.collect());
        let mut bytes = Vec::new();
        for (route, (_, payload)) in payloads.iter().enumerate() {
            client.encode(&Message { number: 0, route, payload, fill: None }, &mut bytes);
        }
        let cuts = cuts_from(&distances, bytes.len());
        let transcript = run_server(&mut Http1Server::new(), &bytes, &cuts);
        let expected: Vec<Seen> = payloads.iter().flat_map(|(_, payload)| asked(payload)).collect();
        prop_assert_eq!(transcript.seen, expected);
        prop_assert!(transcript.out.is_empty());
    }

    #[test]
    fn splitting_changes_nothing(
        bytes in "(HTTP/1\\.[01] (200|204|103) OK\r\n)?\
                  ((Content-Length: [0-9]{1,2}|Transfer-Encoding: chunked|A: b|Connection: close)\r\n){0,3}\
                  \r?\n?([0-9a-f]{1,2}\r\n)?[a-z\r\n0]{0,40}",
        distances in vec(0..9_u8, 0..60),
        fin in any::<bool>(),
    ) {
        let bytes = bytes.as_bytes();
        let run = |cuts: &[usize]| {
            let mut client = Http1Client::new([head("GET", PayloadLength::None)].into());
            client.encode(&Message::new(0, b""), &mut Vec::new());
            run_client(&mut client, bytes, cuts, fin)
        };
        prop_assert_eq!(run(&cuts_from(&distances, bytes.len())), run(&[]));
    }
}

fn head(method: &str, payload: PayloadLength) -> RequestHead {
    RequestHead::new(method, "/path", "host", &[], false, payload).expect("a good request")
}

fn answer(server: &mut Http1Server, exchange: &Exchange, out: &mut Vec<u8>) {
    let Some(sizes) = &exchange.chunks else {
        return server.respond(exchange.status, "text/plain", &exchange.body, true, out);
    };
    server.respond_head(exchange.status, "", BodyLength::Chunked, true, out);
    let mut rest = &exchange.body[..];
    for size in sizes {
        let (piece, behind) = rest.split_at(rest.len().min(*size));
        server.body_chunk(piece, out);
        rest = behind;
    }
    server.body_chunk(rest, out);
    server.body_end(out);
}

fn expected(exchange: &Exchange) -> Seen {
    let bodiless = exchange.method == "HEAD" || matches!(exchange.status, 204 | 304);
    Seen::Reply {
        status: exchange.status,
        kind: MessageKind::Body,
        payload: if bodiless { Vec::new() } else { exchange.body.clone() },
        last: false,
    }
}

fn asked(payload: &[u8]) -> [Seen; 2] {
    let request = RequestSeen {
        method: "POST".into(),
        target: "/path".into(),
        keep_alive: true,
        content_length: Some(payload.len() as u64),
        ..RequestSeen::default()
    };
    [Seen::Request(request), Seen::End(payload.to_vec())]
}
