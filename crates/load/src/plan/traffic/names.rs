//! Names of values, and which of them a session has when it needs them.
//!
//! Knows columns and captures by name. Must not know what their values are.

use std::collections::BTreeSet;

use super::{Flow, Operand, Part, Route, Test, Text, Traffic};

/// Values of sessions, by name.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<String>);

impl Names {
    /// The index of the value with this name, which may be new.
    pub(super) fn index(&mut self, name: &str) -> usize {
        let known = self.0.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        })
    }

    pub(super) fn into_names(self) -> Vec<String> {
        self.0
    }
}

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
    text.iter().filter_map(|part| match part {
        Part::Value(value, _) => Some(*value),
        Part::Text(_) | Part::Make(_) => None,
    })
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
    texts.chain(headers).chain(tested).flat_map(values_in)
}
