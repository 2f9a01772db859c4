//! Conversations over sockets, from the document: their steps, and the order in which these make sense.
//!
//! Knows what a line must and must not have. Must not know how texts and checks are read.

use super::document::{CheckDocument, DeedDocument as Deed, FoundDocument, LineDocument};
use super::names::Names;
use super::replies::{capture, check};
use super::text::{fields, text};
use super::{Back, Check, Flow, Line, Route, Think, Traffic};

/// A step of a conversation; these headers go with each connection that is opened.
pub(super) fn line(
    document: &LineDocument,
    common: &[(String, String)],
    names: &mut Names,
) -> Result<Route, String> {
    let LineDocument {
        name, does, target, headers, text: message, awaits, checks, captures, ..
    } = document;
    let acknowledged = document.acknowledged;
    let is_open = *does == Deed::Open;
    let has_head = !target.is_empty() || !headers.is_empty();
    if has_head && !is_open {
        return Err("only what opens a connection has a target and headers".to_owned());
    }
    if is_open && target.is_empty() {
        return Err("what opens a connection has a target: give '/' at least".to_owned());
    }
    if (*does == Deed::Send) == message.is_empty() {
        return Err("a message is what 'send' has, and nothing else: give its text".to_owned());
    }
    if *does == Deed::Await && awaits.is_empty() {
        return Err("it awaits a message, and does not say which: give a check".to_owned());
    }
    if acknowledged && *does != Deed::Send {
        return Err("only what is sent is acknowledged: leave it out".to_owned());
    }
    let answered = matches!(does, Deed::Send | Deed::Await);
    let nothing = awaits.is_empty() && !acknowledged;
    if !answered && !awaits.is_empty() || nothing && !(checks.is_empty() && captures.is_empty()) {
        return Err(
            "checks and captures are of a message that is awaited: leave them out".to_owned()
        );
    }
    let found =
        captures.iter().map(|it| &it.of).chain(checks.iter().chain(awaits).map(|it| &it.of));
    if found.into_iter().any(|of| {
        matches!(of, FoundDocument::Status | FoundDocument::Header(_) | FoundDocument::Cookie(_))
    }) {
        return Err("a message has a body, and no status, header or cookie".to_owned());
    }
    if checks.iter().chain(awaits).any(|it| !it.filters.is_empty()) {
        return Err(
            "a message of a conversation is checked as it comes: leave filters out".to_owned()
        );
    }
    Ok(Route {
        name: name.clone(),
        method: String::new(),
        target: text(target, names),
        headers: if is_open { fields(headers, common, names) } else { Vec::new() },
        body: text(message, names),
        statuses: vec![(0, 0)],
        exactly: None,
        checks: all(checks, "checks", names)?,
        follow: 0,
        captures: captures.iter().map(|it| capture(it, names)).collect::<Result<_, _>>()?,
        call: None,
        line: Some(Line { deed: *does, acknowledged, awaits: all(awaits, "awaits", names)? }),
    })
}

fn all(checks: &[CheckDocument], of: &str, names: &mut Names) -> Result<Vec<Check>, String> {
    let checks = checks
        .iter()
        .enumerate()
        .map(|(place, it)| check(it, names).map_err(|fault| format!("{of}[{place}]: {fault}")));
    checks.collect()
}

/// Does a flow of conversations open its connection first and close it last, and go back to where it can?
pub(super) fn in_order(traffic: &Traffic, flow: &Flow) -> Result<(), String> {
    let of = |place: usize| &traffic.routes[flow.steps[place].route];
    if !traffic.is_conversation() {
        let repeats = flow.steps.iter().any(|step| step.back.is_some());
        return if repeats || flow.fails_unasked {
            Err("only conversations go back, or hear what nobody asked for".to_owned())
        } else {
            Ok(())
        };
    }
    let last = flow.steps.len() - 1;
    for place in 0..=last {
        let deed = of(place).line.as_ref().map(|line| line.deed);
        let is_right = match deed {
            Some(Deed::Open) => place == 0,
            Some(Deed::Close) => place == last && place > 0,
            _ => place > 0 && place < last,
        };
        if !is_right {
            return Err(format!(
                "'{}' stands at place {place}: what opens the connection is first, what closes it last, and nothing else is",
                of(place).name
            ));
        }
    }
    let mut free = 1;
    for (place, step) in flow.steps.iter().enumerate() {
        let Some(Back { to, times, think }) = step.back else { continue };
        if !(free..=place).contains(&to) || place == last || times == Some(0) {
            return Err(format!(
                "'{}' goes back to step {to}: it goes back to itself or a step before it, behind the first one and behind others that go back, once at least",
                of(place).name
            ));
        }
        let takes_time = |step: usize| {
            of(step).line.as_ref().is_some_and(Line::listens)
                || flow.steps[step].think != Think::None
        };
        if think == Think::None && !(to..=place).any(takes_time) {
            return Err(format!(
                "'{}' goes back to step {to}, and nothing is awaited in between: await an answer, or think",
                of(place).name
            ));
        }
        free = place + 1;
    }
    Ok(())
}
