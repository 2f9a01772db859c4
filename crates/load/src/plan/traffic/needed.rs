//! Which values a session has when it needs them.
//!
//! Knows where values stand in a route. Must not know what they are.

use std::collections::BTreeSet;

use super::{Call, Flow, Operand, Part, Route, Test, Text, Traffic};

/// A value that a flow needs before it has it: its name, and the name of the route that needs it.
pub(super) fn missing<'t>(traffic: &'t Traffic, flow: &Flow) -> Option<(&'t str, &'t str)> {
    let mut there: BTreeSet<usize> = BTreeSet::new();
    if let Some(feed) = flow.feed {
        there.extend(&traffic.feeds[feed].columns);
    }
    for step in &flow.steps {
        let route = &traffic.routes[step.route];
        if let Some(value) = values(route).find(|value| !there.contains(value)) {
            return Some((&traffic.values[value], &route.name));
        }
        there.extend(route.captures.iter().map(|capture| capture.value));
    }
    None
}

/// The values that stand in a text.
fn values_in(text: &Text) -> impl Iterator<Item = usize> {
    text.iter().filter_map(value_of)
}

fn value_of(part: &Part) -> Option<usize> {
    match part {
        Part::Value(value, _) => Some(*value),
        Part::Text(_) | Part::Make(_) => None,
    }
}

/// The values that a request needs, and what is expected of its reply.
fn values(route: &Route) -> impl Iterator<Item = usize> {
    let headers = route.headers.iter().map(|(_, value)| value);
    let awaited = route.line.iter().flat_map(|line| &line.awaits);
    let tested = route.checks.iter().chain(awaited).filter_map(|check| match &check.test {
        Test::Compared(_, Operand::Text(text))
        | Test::Contains(Operand::Text(text))
        | Test::Starts(text)
        | Test::Ends(text) => Some(text),
        _ => None,
    });
    let texts = [&route.target, &route.body].into_iter().chain(&route.exactly);
    let sent = route.call.iter().flat_map(Call::parts).filter_map(value_of);
    texts.chain(headers).chain(tested).flat_map(values_in).chain(sent)
}
