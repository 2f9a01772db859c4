//! Whether a plan's traffic fits its target, and how it is sent.

use wiretrial_proto::socketio;

use super::wrong;
use crate::plan::document::{ExpectDocument, MessageDocument, PacingDocument, TargetDocument};
use crate::plan::traffic::{Deed, Flow, Order, Part, Route, Think, Traffic};
use crate::plan::{
    GeneratorPlan, Load, LoopPlan, Overflow, PlanError, Scheme, SharePlan, Stop, Target, TargetUrl,
};

/// Most users of one pool.
const MOST_USERS: u32 = 1 << 24;

/// What each route says is not said of the target.
pub(super) fn origin_alone(target: &TargetDocument) -> Result<(), PlanError> {
    if target.http.header_profile.is_some() {
        return wrong(
            "http.header_profile: a traffic file says the header fields of its requests; leave --header-profile out"
                .to_owned(),
        );
    }
    let is_default = target.message == MessageDocument::default()
        && target.expect == ExpectDocument::default()
        && target.http.method.is_none();
    if is_default {
        return Ok(());
    }
    wrong("target: of traffic each route has its own method, message and expectation: leave those of the target out".to_owned())
}

/// Is it one, of which each route has its own path?
pub(super) fn is_origin(url: &TargetUrl) -> Result<(), PlanError> {
    let is_bare = match url.scheme {
        Scheme::Http | Scheme::WebSocket => url.path == "/" && !url.grpc,
        Scheme::SocketIo => url.path == socketio::TARGET,
        _ => false,
    };
    if is_bare {
        return Ok(());
    }
    wrong(format!(
        "target.url: '{}' is no origin of traffic: use http://HOST:PORT or https://HOST:PORT, for conversations ws://HOST:PORT, wss://HOST:PORT, socketio+ws://HOST:PORT or socketio+wss://HOST:PORT",
        url.text
    ))
}

/// Are routes asked over HTTP, and conversations had over sockets?
pub(super) fn speaks(traffic: &Traffic, target: &Target) -> Result<(), PlanError> {
    if traffic.is_conversation() == (target.url.scheme == Scheme::Http) {
        return wrong(format!(
            "target.url: '{}' is the other way: routes are asked over http, and lines are of conversations over ws or socketio+ws",
            target.url.text
        ));
    }
    if traffic.is_conversation() && target.has_streams() {
        return wrong(
            "http.version: conversations are had over HTTP/1.1; leave --http out".to_owned(),
        );
    }
    if !target.has_streams()
        && let Some(route) = traffic.routes.iter().find(|route| route.call.is_some())
    {
        return wrong(format!(
            "traffic.routes '{}': calls go over HTTP/2 and HTTP/3: let http.version be 2 or 3",
            route.name
        ));
    }
    let mut lines = traffic.routes.iter().filter_map(|route| Some((route, route.line.as_ref()?)));
    let is_event = |route: &Route| matches!(route.body.first(), Some(Part::Text(text)) if text.starts_with('['));
    let is_socketio = target.url.scheme == Scheme::SocketIo;
    let of_others = lines.find(|(route, line)| {
        if is_socketio { line.deed == Deed::Send && !is_event(route) } else { line.acknowledged }
    });
    if let Some((route, _)) = of_others {
        let fault = if is_socketio {
            "an event of Socket.IO is an array of JSON: begin its text with ["
        } else {
            "only an event of Socket.IO is acknowledged: await a message in its place"
        };
        return wrong(format!("traffic.lines '{}': {fault}", route.name));
    }
    if target.greetings > 0 {
        return wrong(
            "websocket.greetings: a conversation says what it awaits: leave them out".to_owned(),
        );
    }
    Ok(())
}

/// May its users share the connections?
///
/// # Errors
/// One line that names the member that is wrong, and the remedy.
pub(super) fn pools(
    traffic: Option<&Traffic>,
    load: &Load,
    share: SharePlan,
    generator: &GeneratorPlan,
) -> Result<(), PlanError> {
    let Some(users) = load.users else { return Ok(()) };
    let Some(traffic) = traffic else {
        return wrong(
            "load.users: only users of traffic share connections: leave it out".to_owned(),
        );
    };
    if traffic.is_conversation() {
        return wrong(
            "load.users: a conversation needs a connection of its own: leave it out".to_owned(),
        );
    }
    if users == 0 || users > MOST_USERS {
        return wrong(format!("load.users: {users} is outside 1 to {MOST_USERS}"));
    }
    if generator.threads > 1 || share.connections != load.connections {
        return wrong("load.users: a pool of connections belongs to one thread of one engine: use --threads 1, or a connection per user".to_owned());
    }
    Ok(())
}

/// Does this traffic fit how it is sent, on connections that have streams or not?
///
/// # Errors
/// One line that names the member that is wrong, and the remedy.
pub(super) fn fits(
    (traffic, has_streams): (&Traffic, bool),
    load: &Load,
    share: SharePlan,
    stop: &Stop,
) -> Result<(), PlanError> {
    let streams = load.users.is_some() && has_streams && load.pack == 1;
    if load.depth > 1 && has_streams && !streams {
        return wrong("load.depth: a user of traffic sends one request after the other: over HTTP/2 and HTTP/3 several users have the streams of a connection where they share a pool: give load.users, or leave depth and pack out".to_owned());
    }
    if (load.depth > 1 && !streams) || load.requests_per_connection.is_some() {
        return wrong("load: a user of traffic sends one request after the other, on a connection that is kept: leave depth, pack and requests per connection out".to_owned());
    }
    let is_open = match load.loop_ {
        LoopPlan::Closed => false,
        LoopPlan::Open {
            pacing: PacingDocument::Constant | PacingDocument::Poisson,
            overflow: Overflow::Wait,
            ..
        } => true,
        _ => {
            return wrong("load.executor: sessions of traffic begin in a closed loop, or in an open one (constant, poisson) in which they wait: use one of these".to_owned());
        }
    };
    for flow in &traffic.flows {
        if is_open && flow.steps[0].think != Think::None {
            let fault =
                "the arrivals say when its first step is due: leave that one's think time out";
            return of_flow(flow, fault);
        }
        if flow.is_endless() && (is_open || stop.duration.is_none()) {
            let fault = "its sessions do not end by themselves: say how often steps are done again, or load in a closed loop for a time";
            return of_flow(flow, fault);
        }
        let Some(feed) = flow.feed.map(|feed| &traffic.feeds[feed]) else { continue };
        let (rows, users) = (feed.rows.len(), load.users.unwrap_or(share.connections) as usize);
        if !is_open && feed.order == Order::Unique && rows < users {
            let fault = format!(
                "its feed has {rows} rows for {users} users, and each keeps one of its own: give more rows, or another order"
            );
            return of_flow(flow, &fault);
        }
    }
    Ok(())
}

fn of_flow<T>(flow: &Flow, fault: &str) -> Result<T, PlanError> {
    wrong(format!("traffic.flows '{}': {fault}", flow.name))
}
