//! `load URL`: flags become a plan; the standalone face of the load generator.

use std::process::ExitCode;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use wiretrial_load::clock::Nanos;
use wiretrial_load::plan::calls::GrpcDocument;
use wiretrial_load::plan::document::{
    ContentDocument, DeflateDocument, ExecutorDocument, ExpectDocument, GeneratorDocument,
    HttpDocument, HttpVersionDocument, LoadDocument, MessageDocument, MessageKind,
    OverflowDocument, PLAN_SCHEMA, PLAN_VERSION, PacingDocument, PhasesDocument, PlanDocument,
    PollerDocument, PublishDocument, SourceDocument, StageDocument, StopDocument, StyxDocument,
    TargetDocument, TlsDocument, WebSocketDocument, WindowsDocument,
};
use wiretrial_load::plan::profile::HeaderProfile as Profile;
use wiretrial_load::plan::{Congestion as CongestionOf, Plan};
use wiretrial_load::{Control, Refusal, RunError};
use wiretrial_respond::DeflateConfig;

use crate::cli::{
    Congestion, HeaderProfile, HttpVersion, LoadFlags, Overflow, Pacing, Pattern, Poller,
};
use crate::exit::{self, Failed};
use crate::quantity::Stages;
use crate::{quantity, run as running, signals};

/// Where none are given.
const USUAL_CONNECTIONS: u32 = 10;
/// Of a measurement, where none is given.
const USUAL_LENGTH: Nanos = Nanos(10_000_000_000);
/// Payload of a message where none is given and the protocol needs one, bytes.
const USUAL_PAYLOAD: u64 = 20;

pub(crate) fn run(flags: &LoadFlags) -> Result<ExitCode, Failed> {
    let plan = Plan::parse(document(flags)?)?;
    let control = Arc::new(Control::default());
    let by_signal = Arc::clone(&control);
    signals::on_first(move |signal| by_signal.stop_by_signal(signal))?;
    let outcome = running::run(plan, &control, flags.format);
    match outcome {
        Ok(summary) => Ok(exit::of(&summary)),
        Err(RunError::Refused(Refusal::Capacity(short))) => {
            let words: Vec<String> = std::env::args().collect();
            Err(Failed::Capacity(short.with_command(&words)))
        }
        Err(error) => Err(error.into()),
    }
}

fn document(flags: &LoadFlags) -> Result<PlanDocument, Failed> {
    let course = course(flags)?;
    Ok(PlanDocument {
        schema: PLAN_SCHEMA.to_owned(),
        version: PLAN_VERSION,
        target: target(flags)?,
        traffic: None,
        load: LoadDocument {
            connections: course.connections,
            depth: flags.depth,
            pack: flags.pack,
            users: None,
            requests_per_connection: flags.requests_per_connection,
            executor: executor(flags, &course),
            seed: flags.seed,
            stages: course.stages,
        },
        stop: match flags.requests {
            Some(requests) => StopDocument { requests: Some(requests), ..StopDocument::default() },
            None => StopDocument {
                duration_ns: Some(flags.duration.unwrap_or(course.length).0),
                ..StopDocument::default()
            },
        },
        phases: PhasesDocument {
            connect_ns: flags.connect_timeout.0,
            // A load over time begins as it says.
            warmup_ns: if flags.requests.is_some() || flags.stages.is_some() {
                0
            } else {
                flags.warmup.0
            },
            timeout_ns: flags.timeout.0,
            ..PhasesDocument::default()
        },
        generator: GeneratorDocument {
            threads: flags.threads,
            cpus: flags.cpus.clone(),
            poller: match flags.poller {
                Poller::Auto => PollerDocument::Auto,
                Poller::Uring => PollerDocument::Uring,
                Poller::Epoll => PollerDocument::Epoll,
            },
            spin: flags.spin,
        },
        share: None,
        publish: publish(flags)?,
    })
}

fn publish(flags: &LoadFlags) -> Result<Option<PublishDocument>, Failed> {
    let Some(url) = &flags.publish else { return Ok(None) };
    Ok(Some(PublishDocument {
        url: url.clone(),
        rate: flags.publish_rate,
        bytes: flags.publish_size,
        settle_ns: flags.publish_after.0,
        long_poll: flags.long_poll,
        headers: fields(&flags.publish_headers, "--publish-header")?,
    }))
}

fn target(flags: &LoadFlags) -> Result<TargetDocument, Failed> {
    Ok(TargetDocument {
        url: flags.url.clone(),
        addresses: Vec::new(),
        sources: flags.sources.iter().flat_map(|part| &part.0).map(ToString::to_string).collect(),
        http: HttpDocument {
            version: version(flags),
            windows: (flags.window.is_some() || flags.connection_window.is_some()).then_some(
                WindowsDocument {
                    stream: flags.window,
                    connection: flags.connection_window,
                    are_factor: true,
                },
            ),
            congestion: flags.congestion.map(congestion),
            early_data: flags.early_data,
            method: flags.method.clone(),
            headers: fields(&flags.headers, "--header")?,
            header_profile: flags.header_profile.map(header_profile),
            sse: flags.sse,
        },
        tls: TlsDocument {
            insecure: flags.insecure,
            ca_file: flags.cacert.as_ref().map(|path| path.to_string_lossy().into_owned()),
            server_name: None,
            resumption: !flags.no_resumption,
        },
        websocket: WebSocketDocument {
            deflate: flags.deflate.map(deflate),
            greetings: flags.greetings,
        },
        styx: StyxDocument {
            table_size: flags.table_size,
            delay_ms: (flags.table_delay.0 / 1_000_000).try_into().unwrap_or(u32::MAX),
            lobby: flags.lobby,
            ..StyxDocument::default()
        },
        grpc: GrpcDocument::default(),
        message: MessageDocument {
            kind: if flags.text || flags.json.is_some() {
                MessageKind::Text
            } else {
                MessageKind::Binary
            },
            is_json: flags.json.is_some(),
            source: source(flags)?,
        },
        expect: ExpectDocument { status: flags.expect_status, content: content(flags)? },
    })
}

/// What is asked for by its windows is HTTP/2. Other protocols than HTTP have one version.
fn version(flags: &LoadFlags) -> HttpVersionDocument {
    let is_windowed = flags.window.is_some() || flags.connection_window.is_some();
    match flags.http {
        HttpVersion::Two => HttpVersionDocument::Two,
        HttpVersion::Three => HttpVersionDocument::Three,
        HttpVersion::Auto if is_windowed => HttpVersionDocument::Two,
        HttpVersion::Auto if flags.url.starts_with("https:") => HttpVersionDocument::Auto,
        HttpVersion::Auto | HttpVersion::One => HttpVersionDocument::One,
    }
}

fn congestion(typed: Congestion) -> CongestionOf {
    match typed {
        Congestion::Cubic => CongestionOf::Cubic,
        Congestion::NewReno => CongestionOf::NewReno,
        Congestion::Bbr => CongestionOf::Bbr,
    }
}

fn header_profile(typed: HeaderProfile) -> Profile {
    match typed {
        HeaderProfile::Constant => Profile::Constant,
        HeaderProfile::Partly => Profile::Partly,
        HeaderProfile::Unique => Profile::Unique,
    }
}

fn deflate(config: DeflateConfig) -> DeflateDocument {
    DeflateDocument {
        server_no_context_takeover: config.server_no_context_takeover,
        client_no_context_takeover: config.client_no_context_takeover,
        server_max_window_bits: config.server_max_window_bits,
        client_max_window_bits: config.client_max_window_bits,
        level: config.level,
    }
}

/// Header fields as they were given with this flag.
fn fields(lines: &[String], flag: &str) -> Result<Vec<(String, String)>, Failed> {
    let split = |line: &String| {
        let (name, value) = line.split_once(':').ok_or_else(|| {
            // What is no field may be a secret that was meant to be one.
            Failed::Usage(format!("{flag}: no colon in one of them; e.g. 'Accept: */*'"))
        })?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    };
    lines.iter().map(split).collect()
}

fn source(flags: &LoadFlags) -> Result<SourceDocument, Failed> {
    if let Some(text) = &flags.json {
        return Ok(SourceDocument::Template { text: text.clone() });
    }
    let Some(payload) = &flags.payload else {
        let none =
            ["http", "styx", "socketio", "grpc"].iter().any(|scheme| flags.url.starts_with(scheme));
        // Who hears what is published says nothing.
        return Ok(if none || flags.publish.is_some() {
            SourceDocument::None
        } else {
            SourceDocument::Sequence { bytes: USUAL_PAYLOAD }
        });
    };
    if let Some(path) = payload.strip_prefix('@') {
        return Ok(SourceDocument::Fixed { base64: read(path, "--payload")? });
    }
    let bytes = quantity::size(payload)
        .map_err(|error| Failed::Usage(format!("--payload '{payload}': {error}, or @FILE")))?;
    Ok(SourceDocument::Sequence { bytes })
}

fn content(flags: &LoadFlags) -> Result<ContentDocument, Failed> {
    const KNOWN: &str =
        "use echo, learned, broadcast, @FILE, status, json:PATH=VALUE or regex:PATTERN";
    let is_rule = |text: &String| text.starts_with("json:") || text.starts_with("regex:");
    let wanted = match flags.expect.as_slice() {
        [] => return Ok(ContentDocument::Auto),
        rules if rules.iter().all(is_rule) => {
            return Ok(ContentDocument::Matching { rules: rules.to_vec() });
        }
        [one] => one,
        _ => {
            let text = "--expect: only json: and regex: rules can be repeated; keep one";
            return Err(Failed::Usage(text.to_owned()));
        }
    };
    match (wanted.as_str(), wanted.strip_prefix('@')) {
        ("echo", _) => Ok(ContentDocument::Echo),
        ("learned", _) => Ok(ContentDocument::Learned),
        ("broadcast", _) => Ok(ContentDocument::Broadcast),
        ("status", _) => Ok(ContentDocument::Status),
        (_, Some(path)) => Ok(ContentDocument::Fixed { base64: read(path, "--expect")? }),
        (other, None) => Err(Failed::Usage(format!("--expect '{other}': {KNOWN}"))),
    }
}

fn read(path: &str, flag: &str) -> Result<String, Failed> {
    let bytes = std::fs::read(path)
        .map_err(|error| Failed::Usage(format!("{flag}: can't read '{path}': {error}")))?;
    Ok(BASE64_STANDARD.encode(bytes))
}

/// How much there is over time.
struct Course {
    connections: u32,
    /// Highest; none: the loop is closed.
    rate: Option<f64>,
    stages: Vec<StageDocument>,
    /// Of all of it.
    length: Nanos,
}

fn course(flags: &LoadFlags) -> Result<Course, Failed> {
    let wrong = |text: &str| Err(Failed::Usage(text.to_owned()));
    let are_rates = flags.stages.as_ref().is_some_and(|stages| stages.are_rates);
    let is_paced = flags.pacing != Pacing::Constant || flags.overflow != Overflow::Wait;
    if is_paced && flags.rate.is_none() && !are_rates {
        return wrong("--pacing and --overflow are of a rate; give --rate");
    }
    let usual = flags.connections.unwrap_or(USUAL_CONNECTIONS);
    let Some(Stages { parts, .. }) = &flags.stages else {
        let stages = Vec::new();
        let (rate, length) = (flags.rate, USUAL_LENGTH);
        return Ok(Course { connections: usual, rate, stages, length });
    };
    let is_open = are_rates || flags.rate.is_some();
    let start = flags.rate.unwrap_or(0.0);
    let highest = parts.iter().map(|(_, level)| *level).fold(start, f64::max);
    if is_open && matches!(flags.pacing, Pacing::Phased | Pacing::AfterResponse) {
        return wrong("--stages: a rate that changes is constant or poisson; use --pacing poisson");
    }
    if !is_open && flags.connections.is_some() {
        return wrong("--stages: they say how many connections there are; leave -c out");
    }
    if !is_open && (highest > f64::from(u32::MAX) || parts.iter().any(|part| part.1.fract() > 0.0))
    {
        return wrong("--stages: connections are whole numbers; of rates write 30s:0.5/s");
    }
    let mut from = start / highest;
    let stages = parts.iter().map(|(time, level)| {
        let to = level / highest;
        let from = std::mem::replace(&mut from, to);
        StageDocument { for_ns: time.0, from, to }
    });
    let stages = stages.collect();
    let length = parts.iter().fold(Nanos::ZERO, |sum, (time, _)| sum + *time);
    let length = if length == Nanos::ZERO { USUAL_LENGTH } else { length };
    let connections = if is_open { usual } else { highest as u32 };
    Ok(Course { connections, rate: is_open.then_some(highest), stages, length })
}

fn executor(flags: &LoadFlags, course: &Course) -> ExecutorDocument {
    if flags.hold {
        return ExecutorDocument::Hold { rate: flags.rate.unwrap_or(0.0), idle_ns: 0 };
    }
    if flags.pattern == Pattern::RandomBurst {
        return ExecutorDocument::RandomBurst;
    }
    let Some(rate) = course.rate else { return ExecutorDocument::Closed };
    if flags.pacing == Pacing::AfterResponse {
        let slots = f64::from(course.connections) * f64::from(flags.depth);
        return ExecutorDocument::AfterResponse { pause_ns: (slots / rate * 1e9) as u64 };
    }
    ExecutorDocument::Open {
        rate,
        pacing: match flags.pacing {
            Pacing::Constant | Pacing::AfterResponse => PacingDocument::Constant,
            Pacing::Phased => PacingDocument::Phased,
            Pacing::Poisson => PacingDocument::Poisson,
        },
        overflow: match flags.overflow {
            Overflow::Wait => OverflowDocument::Wait,
            Overflow::Drop => OverflowDocument::Drop,
        },
    }
}
