//! From the document to runnable traffic: every rule about it stands here.
//!
//! Knows what the whole must keep to. Must not know how single texts and checks are read.

use std::collections::BTreeSet;

use super::call;
use super::document::{
    BackDocument, FeedDocument, FlowDocument, FoundDocument, RouteDocument, ThinkDocument,
    TrafficDocument, UnaskedDocument,
};
use super::lines::{in_order, line};
use super::names::Names;
use super::needed::missing;
use super::replies::{capture, check, statuses};
use super::text::{fields, text};
use super::{Back, Feed, Flow, FlowStep, Part, Route, Think, Traffic, Written};
use crate::clock::Nanos;
use crate::plan::PlanError;

/// The longest name of a route or flow, bytes.
const LONGEST_NAME: usize = 200;
/// The most that all weights are together: sessions are dealt from a deck of so many cards.
const MOST_WEIGHT: u64 = 1 << 16;
/// The longest think time, nanoseconds: a day.
const LONGEST_THINK: u64 = 24 * 3_600_000_000_000;

/// Makes a document into runnable traffic; these headers go with each request.
///
/// # Errors
/// One line that names the member that is wrong, and the remedy.
pub(in crate::plan) fn traffic(
    document: &TrafficDocument,
    headers: &[(String, String)],
) -> Result<Traffic, PlanError> {
    let mut names = Names::default();
    distinct("feeds", document.feeds.iter().map(|feed| &feed.name))?;
    distinct("routes", document.routes.iter().map(|route| &route.name))?;
    distinct("lines", document.lines.iter().map(|line| &line.name))?;
    distinct("flows", document.flows.iter().map(|flow| &flow.name))?;
    if document.routes.is_empty() == document.lines.is_empty() || document.flows.is_empty() {
        return wrong(
            "traffic: there is no route, or no flow, or there are routes and lines; give routes or lines, and a flow".to_owned(),
        );
    }
    let feeds = document
        .feeds
        .iter()
        .map(|it| feed(it, &mut names).map_err(|fault| named("feeds", &it.name, &fault)));
    let feeds = feeds.collect::<Result<Vec<_>, _>>()?;
    let mut routes = Vec::new();
    for it in &document.routes {
        let route = route(it, headers, &mut names);
        routes.push(route.map_err(|fault| named("routes", &it.name, &fault))?);
    }
    for it in &document.lines {
        let line = line(it, headers, &mut names);
        routes.push(line.map_err(|fault| named("lines", &it.name, &fault))?);
    }
    let flows = document
        .flows
        .iter()
        .map(|it| flow(it, document).map_err(|fault| named("flows", &it.name, &fault)));
    let flows = flows.collect::<Result<Vec<_>, _>>()?;
    let sample = document.sample;
    if !(0.0..=1.0).contains(&sample) {
        return wrong(format!("traffic.sample: {sample} is no share from 0 to 1"));
    }
    let mut traffic = Traffic { feeds, routes, flows, values: names.into_names(), sample };
    if traffic.flows.iter().map(|flow| u64::from(flow.weight)).sum::<u64>() > MOST_WEIGHT {
        return wrong(format!(
            "traffic.flows: all weights together are over {MOST_WEIGHT}; divide them"
        ));
    }
    for flow in &traffic.flows {
        in_order(&traffic, flow).map_err(|fault| named("flows", &flow.name, &fault))?;
        if let Some((value, route)) = missing(&traffic, flow) {
            let fault = format!(
                "'{route}' needs '{value}', which is no column of its feed and no capture of an earlier step"
            );
            return Err(named("flows", &flow.name, &fault));
        }
    }
    mark_places(&mut traffic)?;
    Ok(traffic)
}

fn wrong<T>(what: String) -> Result<T, PlanError> {
    Err(PlanError(what))
}

fn named(member: &str, name: &str, fault: &str) -> PlanError {
    PlanError(format!("traffic.{member} '{name}': {fault}"))
}

fn distinct<'n>(member: &str, names: impl Iterator<Item = &'n String>) -> Result<(), PlanError> {
    let mut known = BTreeSet::new();
    for name in names {
        if name.is_empty() || name.len() > LONGEST_NAME {
            let fault = format!("a name has 1 to {LONGEST_NAME} bytes");
            return Err(named(member, name, &fault));
        }
        if !known.insert(name) {
            return Err(named(member, name, "there are two of this name"));
        }
    }
    Ok(())
}

fn feed(document: &FeedDocument, names: &mut Names) -> Result<Feed, String> {
    let FeedDocument { columns, rows, order, .. } = document;
    if rows.is_empty() {
        return Err("it has no rows".to_owned());
    }
    if let Some(place) = rows.iter().position(|row| row.len() != columns.len()) {
        let (number, has, all) = (place + 1, rows[place].len(), columns.len());
        return Err(format!("row {number} has {has} values for {all} columns"));
    }
    if columns.iter().collect::<BTreeSet<_>>().len() < columns.len() {
        return Err("two columns have the same name".to_owned());
    }
    let columns = columns.iter().map(|name| names.index(name)).collect();
    Ok(Feed { columns, rows: rows.clone(), order: *order })
}

fn route(
    document: &RouteDocument,
    common: &[(String, String)],
    names: &mut Names,
) -> Result<Route, String> {
    let RouteDocument {
        name,
        method,
        target,
        headers,
        body,
        expect,
        captures,
        follow,
        call: called,
    } = document;
    let all = fields(headers, common, names);
    if let Some((name, _)) = all.iter().find(|(name, _)| name.eq_ignore_ascii_case("cookie")) {
        return Err(format!("header {name} is the engine's own: cookies are kept by the flow"));
    }
    let checks = expect.checks.iter().enumerate().map(|(place, it)| {
        check(it, names).map_err(|fault| format!("expect.checks[{place}]: {fault}"))
    });
    let checks = checks.collect::<Result<Vec<_>, _>>()?;
    let called = called.as_ref().map(|called| call::call(called, names)).transpose()?;
    if called.is_some() && (!target.is_empty() || !body.is_empty() || *follow > 0) {
        return Err("a call has no target and no body, and is not redirected".to_owned());
    }
    let looked_at = expect.checks.iter().map(|check| &check.of);
    let mut looked_at = looked_at.chain(captures.iter().map(|capture| &capture.of));
    if called.is_none() && looked_at.any(|of| matches!(of, FoundDocument::Field(_))) {
        return Err("only the reply to a call has fields of messages".to_owned());
    }
    Ok(Route {
        name: name.clone(),
        method: method.clone(),
        target: match &called {
            Some(call) => vec![Part::Text(call.path.clone())],
            None => text(target, names),
        },
        headers: all,
        body: text(body, names),
        statuses: match called {
            Some(_) => call::statuses(&expect.status)?,
            None => statuses(&expect.status)?,
        },
        exactly: expect.body.as_ref().map(|body| text(body, names)),
        checks,
        follow: *follow,
        captures: captures.iter().map(|it| capture(it, names)).collect::<Result<_, _>>()?,
        line: None,
        call: called,
    })
}

fn flow(document: &FlowDocument, all: &TrafficDocument) -> Result<Flow, String> {
    let FlowDocument { name, weight, feed, cookies, unasked, steps } = document;
    if *weight == 0 {
        return Err("a weight begins at 1; leave the flow out".to_owned());
    }
    if steps.is_empty() {
        return Err("it has no steps".to_owned());
    }
    let feed = match feed {
        None => None,
        Some(name) => {
            let place = all.feeds.iter().position(|feed| feed.name == *name);
            Some(place.ok_or_else(|| format!("there is no feed '{name}'"))?)
        }
    };
    let steps = steps.iter().map(|step| {
        let route = step.route as usize;
        if route >= all.routes.len() + all.lines.len() {
            return Err(format!("there is no route or line {route}: they count from 0"));
        }
        let back = step.back.as_ref().map(|back| {
            let BackDocument { to, times, think: between } = back;
            Ok::<_, String>(Back { to: *to as usize, times: *times, think: think(between)? })
        });
        Ok(FlowStep { route, think: think(&step.think)?, back: back.transpose()? })
    });
    let steps = steps.collect::<Result<_, String>>()?;
    let fails_unasked = *unasked == UnaskedDocument::Fail;
    let (name, cookies) = (name.clone(), *cookies);
    Ok(Flow { name, weight: *weight, feed, cookies, fails_unasked, steps })
}

fn think(document: &ThinkDocument) -> Result<Think, String> {
    let (longest, think) = match *document {
        ThinkDocument::None => (0, Think::None),
        ThinkDocument::Constant { ns } => (ns, Think::Constant(Nanos(ns))),
        ThinkDocument::Uniform { low_ns, high_ns } if low_ns > high_ns => {
            return Err(format!("a think time of {low_ns} to {high_ns} ns: exchange them"));
        }
        ThinkDocument::Uniform { low_ns, high_ns } => {
            (high_ns, Think::Uniform(Nanos(low_ns), Nanos(high_ns)))
        }
        ThinkDocument::Exponential { mean_ns } => (mean_ns, Think::Exponential(Nanos(mean_ns))),
        ThinkDocument::Lognormal { sigma, .. } if !(0.0..=10.0).contains(&sigma) => {
            return Err(format!("a think time's sigma of {sigma} is outside 0 to 10"));
        }
        ThinkDocument::Lognormal { median_ns, sigma } => {
            (median_ns, Think::Lognormal(Nanos(median_ns), sigma))
        }
    };
    if longest > LONGEST_THINK {
        return Err(format!("a think time of {longest} ns is over a day"));
    }
    Ok(think)
}

/// Notes which captures come to stand in heads, and looks at the columns that do.
fn mark_places(traffic: &mut Traffic) -> Result<(), PlanError> {
    let plain = |part: &Part| match part {
        Part::Value(value, Written::Plain) => Some(*value),
        _ => None,
    };
    let headers = traffic.routes.iter().flat_map(|route| &route.headers);
    let in_head: BTreeSet<usize> =
        headers.flat_map(|(_, text)| text.iter().filter_map(plain)).collect();
    let leading = traffic.routes.iter().filter_map(|route| route.target.first().and_then(plain));
    let leading: BTreeSet<usize> = leading.collect();
    for route in &mut traffic.routes {
        for capture in &mut route.captures {
            capture.in_head = in_head.contains(&capture.value);
            capture.leads = leading.contains(&capture.value);
        }
    }
    for feed in &traffic.feeds {
        for (place, value) in feed.columns.iter().enumerate() {
            let rows = feed.rows.iter().map(|row| row[place].as_str());
            let is_wrong = |text: &&str| {
                (in_head.contains(value) && text.bytes().any(ends_a_line))
                    || (leading.contains(value) && !text.starts_with('/'))
            };
            if let Some(row) = rows.enumerate().find(|(_, text)| is_wrong(text)) {
                let (number, name) = (row.0 + 1, &traffic.values[*value]);
                return wrong(format!(
                    "traffic.feeds: '{name}' of row {number} can't stand in a header field, or begin a target, as it does in a route: it has a control character, or no / at its begin"
                ));
            }
        }
    }
    Ok(())
}

/// No field of a head may have it.
fn ends_a_line(byte: u8) -> bool {
    byte.is_ascii_control() && byte != b'\t'
}
