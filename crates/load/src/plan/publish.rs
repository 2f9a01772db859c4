//! Events that are published during a load of receivers, each of whom has to be told every one.
//!
//! Knows where they are posted, how often, and which loads can hear them; makes the load of who publishes of
//! that of who hears. Must not know how either is sent.

use wiretrial_proto::http1::{PayloadLength, RequestHead};
use wiretrial_proto::sse::SHORTEST;

use super::document::{PacingDocument, PublishDocument};
use super::{
    ContentRule, Expect, GeneratorPlan, Load, LoopPlan, Overflow, PayloadPlan, Phases, Plan,
    PlanError, Scheme, SharePlan, Stop, Target, TargetUrl, TlsPlan, Windows,
};
use crate::clock::Nanos;

/// Data of an event at most, bytes.
const MOST_BYTES: u64 = 1 << 20;
const MOST_PER_SECOND: f64 = 100_000.0;
/// Fields that are about what a receiver asks for, and not about what is posted.
const OF_RECEIVERS: [&str; 2] = ["accept", CONTENT_TYPE];
const CONTENT_TYPE: &str = "content-type";

/// Who publishes, where and how often.
#[derive(Debug, Clone)]
pub struct Publish {
    target: Target,
    rate: f64,
    /// Data of each event, bytes.
    size: usize,
    settle: Nanos,
    /// From the first event to the end of the load.
    lasts: Nanos,
    /// Receivers poll.
    long_poll: bool,
}

impl Publish {
    /// Of a load of this target.
    pub(super) fn parse(
        document: &PublishDocument,
        target: &Target,
        load: &Load,
        (stop, phases, share): (&Stop, Phases, SharePlan),
    ) -> Result<Self, PlanError> {
        let PublishDocument { rate, bytes, settle_ns, long_poll, .. } = *document;
        if long_poll && target.sse {
            return wrong(
                "publish.long_poll: streams of events are no polls; leave --sse or --long-poll out",
            );
        }
        if share.connections != load.connections {
            return wrong("publish: what is published can't be heard by several engines; use one");
        }
        if !(rate > 0.0 && rate <= MOST_PER_SECOND) {
            return wrong(format!(
                "publish.rate: {rate} is not above 0 and at most {MOST_PER_SECOND} per second"
            ));
        }
        if !(SHORTEST as u64..=MOST_BYTES).contains(&bytes) {
            return wrong(format!(
                "publish.bytes: {bytes} is outside {SHORTEST} to {MOST_BYTES}: an event says its number and its instant"
            ));
        }
        let settle = Nanos(settle_ns);
        let lasts = phases.warmup + stop.duration.unwrap_or_default() - settle;
        if lasts == Nanos::ZERO {
            return wrong(format!(
                "publish.settle_ns: the load is over before its first event, {} ms after its begin; let it last longer",
                settle_ns / 1_000_000
            ));
        }
        let size = bytes as usize;
        let target = publisher(document, target, size)?;
        Ok(Self { target, rate, size, settle, lasts, long_poll })
    }

    /// Do receivers poll?
    pub(crate) fn long_poll(&self) -> bool {
        self.long_poll
    }

    /// Data of each event, bytes.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// From the begin of the load to the first event.
    pub(crate) fn settle(&self) -> Nanos {
        self.settle
    }
}

impl Plan {
    /// Who is to be told of what is published: a stream each, as many as a load may have messages in flight.
    pub(crate) fn receivers(&self) -> u32 {
        self.load.connections * self.load.depth
    }

    /// The load of who publishes, beside this one's; none: nobody does. Events go one after the other, so that their
    /// order is that of their numbers.
    pub(crate) fn of_publisher(&self) -> Option<Self> {
        let publish = self.publish.as_deref()?;
        let (rate, pacing, overflow) = (publish.rate, PacingDocument::Constant, Overflow::Wait);
        let load = Load {
            connections: 1,
            users: None,
            depth: 1,
            pack: 1,
            requests_per_connection: None,
            loop_: LoopPlan::Open { rate, pacing, overflow },
            stages: Vec::new(),
            seed: self.load.seed,
        };
        let duration = Some(publish.lasts);
        Some(Self {
            target: publish.target.clone(),
            traffic: None,
            load,
            stop: Stop { duration, requests: None, requests_each: None, sessions: None },
            phases: Phases { warmup: Nanos::ZERO, ..self.phases },
            generator: GeneratorPlan { threads: 1, ..self.generator.clone() },
            share: SharePlan {
                first_worker: 0,
                workers: 1,
                first_connection: 0,
                connections: 1,
                start: None,
                awaits_begin: false,
            },
            publish: None,
        })
    }
}

/// To whom events are posted: as who hears them asks for them, where nothing else is said. Fields of who hears them go
/// along to the same origin only, since one of them may be a secret.
fn publisher(
    document: &PublishDocument,
    heard: &Target,
    bytes: usize,
) -> Result<Target, PlanError> {
    let url = TargetUrl::parse(&document.url)?;
    if url.scheme != Scheme::Http || url.grpc {
        return wrong("publish.url: events are posted; use http:// or https://");
    }
    let own = &document.headers;
    RequestHead::new("POST", "/", "localhost", own, false, PayloadLength::None)
        .map_err(|error| PlanError(format!("publish.headers: {error}")))?;
    let is_same_host = url.host.eq_ignore_ascii_case(&heard.url.host);
    let is_same = is_same_host && url.port == heard.url.port;
    let is_same_origin = is_same && url.secure == heard.url.secure;
    let tls = url.secure.then(|| match &heard.tls {
        Some(tls) if is_same_host => tls.clone(),
        // Its certificate has its own name.
        Some(tls) => TlsPlan { server_name: url.host.clone(), ..tls.clone() },
        None => TlsPlan {
            insecure: false,
            ca_file: None,
            server_name: url.host.clone(),
            resumption: true,
        },
    });
    let headers = fields(own, if is_same_origin { &heard.headers } else { &[] });
    Ok(Target {
        addresses: if is_same { heard.addresses.clone() } else { Vec::new() },
        sources: heard.sources.clone(),
        method: "POST".to_owned(),
        headers,
        profile: None,
        http2: false,
        http3: false,
        sse: false,
        agrees: false,
        windows: Windows::default(),
        congestion: None,
        early_data: false,
        tls,
        text: true,
        styx: None,
        grpc: None,
        deflate: None,
        greetings: 0,
        payload: PayloadPlan::Event(bytes),
        expect: Expect { status: 200, content: ContentRule::Any },
        url,
    })
}

/// The fields of each post: those of its own, and those of who hears it that have another name.
fn fields(own: &[(String, String)], heard: &[(String, String)]) -> Vec<(String, String)> {
    let is_own = |name: &str| own.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
    let is_left_out = |name: &str| {
        is_own(name) || OF_RECEIVERS.iter().any(|other| other.eq_ignore_ascii_case(name))
    };
    let kept = heard.iter().filter(|(name, _)| !is_left_out(name));
    let mut headers: Vec<_> = kept.cloned().collect();
    if !is_own(CONTENT_TYPE) {
        headers.push(("Content-Type".to_owned(), "text/plain".to_owned()));
    }
    headers.extend_from_slice(own);
    headers
}

fn wrong<T>(what: impl Into<String>) -> Result<T, PlanError> {
    Err(PlanError(what.into()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// How events are posted to this URL, where streams of `https://hear` are held that are verified by this name.
    fn posted(url: &str, server_name: Option<&str>) -> Target {
        let document = json!({
            "schema": "wiretrial-plan",
            "version": 1,
            "target": {
                "url": "https://hear:8443/subscribe",
                "addresses": ["127.0.0.1:8443"],
                "http": {"sse": true},
                "tls": {"insecure": true, "server_name": server_name},
            },
            "load": {"connections": 1, "executor": {"kind": "hold"}},
            "stop": {"duration_ns": 5_000_000_000_u64},
            "publish": {"url": url, "rate": 10.0},
        });
        let plan = Plan::from_json(&document.to_string()).expect("a plan");
        plan.of_publisher().expect("somebody publishes").target
    }

    #[test]
    fn each_host_is_verified_by_its_own_name() {
        for (url, server_name, verified, addresses) in [
            ("https://hear:8443/publish", None, "hear", 1),
            ("https://hear:8443/publish", Some("other"), "other", 1),
            ("https://hear:9443/publish", Some("other"), "other", 0),
            ("https://post/publish", None, "post", 0),
            ("https://post/publish", Some("other"), "post", 0),
        ] {
            let target = posted(url, server_name);
            let tls = target.tls.expect("TLS");
            assert_eq!((tls.server_name.as_str(), tls.insecure), (verified, true), "{url}");
            assert_eq!(target.addresses.len(), addresses, "{url}");
        }
        assert!(posted("http://hear/publish", None).tls.is_none());
    }

    /// The fields with which events are posted to `url`, where who hears them asks for `heard` with a token.
    fn posted_with(heard: &str, url: &str, own: &Value) -> Result<String, PlanError> {
        let document = json!({
            "schema": "wiretrial-plan",
            "version": 1,
            "target": {
                "url": heard,
                "http": {
                    "sse": heard.starts_with("http"),
                    "headers": [["Authorization", "Bearer t"], ["accept", "a/b"], ["X-Room", "7"]],
                },
            },
            "load": {"connections": 1, "executor": {"kind": "hold"}},
            "stop": {"duration_ns": 5_000_000_000_u64},
            "publish": {"url": url, "rate": 10.0, "headers": own},
        });
        let plan = Plan::from_json(&document.to_string())?;
        let headers = plan.of_publisher().expect("somebody publishes").target.headers;
        let lines: Vec<_> =
            headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        Ok(lines.join(", "))
    }

    #[test]
    fn fields_of_receivers_are_posted_to_their_own_origin_alone() {
        let both = "Authorization: Bearer t, X-Room: 7, Content-Type: text/plain";
        for (heard, url, fields) in [
            ("http://hear:8080/subscribe", "http://hear:8080/publish", both),
            ("ws://hear:8080/subscribe", "http://HEAR:8080/publish", both),
            ("wss://hear/subscribe", "https://hear:443/publish", both),
            ("http://hear:8080/subscribe", "http://hear:8081/publish", "Content-Type: text/plain"),
            ("http://hear:8080/subscribe", "https://hear:8080/publish", "Content-Type: text/plain"),
            ("http://hear:8080/subscribe", "http://post:8080/publish", "Content-Type: text/plain"),
        ] {
            let posted = posted_with(heard, url, &json!([])).expect("a plan");
            assert_eq!(posted, fields, "{heard} {url}");
        }
    }

    #[test]
    fn fields_of_a_post_take_the_place_of_those_of_receivers() {
        let own = json!([["authorization", "Basic x"], ["content-type", "application/json"]]);
        let heard = "http://hear/subscribe";
        for (url, fields) in [
            (
                "http://hear/publish",
                "X-Room: 7, authorization: Basic x, content-type: application/json",
            ),
            ("http://post/publish", "authorization: Basic x, content-type: application/json"),
        ] {
            assert_eq!(posted_with(heard, url, &own).expect("a plan"), fields, "{url}");
        }
        let own = json!([["Content-Length", "5"]]);
        let error = posted_with(heard, heard, &own).expect_err("it is ours").to_string();
        assert!(error.starts_with("publish.headers: header "), "{error}");
    }

    #[test]
    fn what_a_poll_is_answered_with_has_one_status() {
        let told = |status: u16| {
            let document = json!({
                "schema": "wiretrial-plan",
                "version": 1,
                "target": {"url": "http://hear/next", "expect": {"status": status}},
                "load": {"connections": 3, "executor": {"kind": "hold"}},
                "stop": {"duration_ns": 5_000_000_000_u64},
                "publish": {"url": "http://hear/publish", "rate": 10.0, "long_poll": true},
            });
            Plan::from_json(&document.to_string())
        };
        assert_eq!(told(200).expect("a plan").receivers(), 3);
        let error = told(202).expect_err("another status").to_string();
        assert!(error.starts_with("expect.status: "), "{error}");
    }
}
