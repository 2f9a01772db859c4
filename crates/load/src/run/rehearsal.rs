//! Before the load: one session of each flow of traffic, by one user who does not think.
//!
//! Knows that a wrong file shows here at once, with the name of the route. Must not know what a session
//! does. It has a worker of its own; what that counts belongs to nobody.

use std::sync::Arc;
use std::sync::mpsc::channel;

use wiretrial_net::{Driver, NetError};

use crate::clock::Nanos;
use crate::control::{Control, Report};
use crate::executor::Budget;
use crate::machine::Machine;
use crate::measure::{Class, Recorder};
use crate::plan::traffic::{Order, Traffic};
use crate::plan::{LoopPlan, Plan, Stop};
use crate::preflight::{Refusal, Setup, driver_config};
use crate::worker::{Share, Wires, Worker};

use super::secrets;

/// Has each flow once; nothing where there is no traffic.
///
/// # Errors
/// What is wrong with the first route that is not answered rightly, or that the server went away and did not come
/// back for as long as a connection may take to stand.
pub(super) fn rehearse(
    setup: &Setup,
    clock: &impl Machine,
    control: &Control,
) -> Result<(), Refusal> {
    let Some(traffic) = &setup.plan.traffic else { return Ok(()) };
    let traffic = once(traffic, setup.plan.share.first_worker);
    let (flows, secrets) = (traffic.flows.len(), secrets(&setup.plan));
    let names: Vec<_> = traffic.routes.iter().map(|route| route.name.clone()).collect();
    let refuse = |(class, text): (Class, String)| {
        let message = format!("{}: before the load: {text}", setup.plan.target.url.text);
        Refusal::Target { class, message }
    };
    let of_net = |error: NetError| refuse((Class::from(error.class()), error.to_string()));
    let driver = Driver::new(&driver_config(&setup.plan)).map_err(of_net)?;
    let (report, reports) = channel();
    let (_recycle, recycled) = channel();
    let inner = Arc::new(Control::default());
    inner.set_begin(clock.now().max(Nanos(1)));
    let plan = plan_of(&setup.plan, traffic);
    // Behind all of the load's: no number is used twice.
    let place = setup.plan.share.workers + setup.plan.share.first_worker;
    let share = Share {
        worker: 0,
        place,
        first_connection: 0,
        connections: 1,
        budget: Budget::of(flows as u64),
        first_number: Share::first_number(place),
        in_turn: false,
    };
    let wires = Wires { control: Arc::clone(&inner), report, recycled, bench: None };
    let own = Arc::new(Setup { plan, ..setup.clone() });
    let mut worker = Worker::new(own, share, wires, clock.clone(), driver).map_err(of_net)?;
    let patience = setup.plan.phases.connect;
    let (mut stood, mut gone) = (None, None);
    while let Some(rest) = worker.work().map_err(refuse)? {
        if control.is_stopping() {
            return Err(Refusal::Interrupted { signal: control.signal() });
        }
        worker.rest(rest).map_err(refuse)?;
        let now = clock.now();
        if worker.stands() {
            stood = Some(now);
        } else if gone.is_none() && stood.is_some_and(|at| now - at >= patience) {
            // A load would go on trying. Here nobody would ever hear of it.
            gone = Some(worker.why_not_all_stand(patience));
            inner.stop();
        }
    }
    let mut all = Recorder::default();
    for (_, report) in reports.try_iter() {
        if let Report::Interval(record) = report {
            all.add(&record.recorder);
        }
    }
    match (all.first_failure(), gone) {
        (None, None) => Ok(()),
        (None, Some((class, text))) => {
            Err(refuse((class, format!("the server went away: {text}"))))
        }
        // What came first may be why it went.
        (Some((route, class, text)), _) => {
            let text = secrets.hidden_in(&text);
            Err(refuse((class, format!("{}: {text}", names[route]))))
        }
    }
}

/// Each flow once, and without thought; of feeds the first row, and of those whose rows are one user's one of the
/// last, which the load comes to last. Each engine of a fleet, whose first worker this is, takes another one: they
/// rehearse at the same time.
fn once(traffic: &Traffic, first_worker: u32) -> Traffic {
    let mut once = traffic.straight();
    for feed in &mut once.feeds {
        let unique = feed.rows.len() - 1 - first_worker as usize % feed.rows.len();
        let row = if feed.order == Order::Unique { unique } else { 0 };
        feed.rows = vec![feed.rows.swap_remove(row)];
        feed.order = Order::Sequential;
    }
    once
}

fn plan_of(plan: &Plan, traffic: Traffic) -> Plan {
    let mut plan = plan.clone();
    plan.stop = Stop {
        duration: None,
        requests: None,
        requests_each: None,
        sessions: Some(traffic.flows.len() as u64),
    };
    plan.traffic = Some(Arc::new(traffic));
    (plan.load.connections, plan.load.users) = (1, None);
    (plan.load.depth, plan.load.pack) = (1, 1);
    plan.load.loop_ = LoopPlan::Closed;
    plan.load.stages.clear();
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_engine_rehearses_with_a_row_of_its_own() {
        let rows = json!([["a"], ["b"], ["c"], ["d"]]);
        let feed =
            |order: &str| json!({"name": order, "columns": ["c"], "rows": rows, "order": order});
        let flow = |order: &str| json!({"name": order, "feed": order, "steps": [{"route": 0}]});
        let plan = json!({
            "schema": "wiretrial-plan", "version": 1,
            "target": {"url": "http://127.0.0.1:1/"},
            "load": {"connections": 1},
            "stop": {"sessions": 1},
            "traffic": {
                "feeds": [feed("unique"), feed("sequential")],
                "routes": [{"name": "one", "method": "GET", "target": [{"text": "/"}]}],
                "flows": [flow("unique"), flow("sequential")],
            },
        });
        let plan = Plan::from_json(&plan.to_string()).expect("a plan");
        let traffic = plan.traffic.expect("it has traffic");
        let rehearsed = |first_worker| {
            let [unique, first] = &once(&traffic, first_worker).feeds[..] else { panic!() };
            (unique.rows.concat().concat(), first.rows.concat().concat())
        };
        let found = [0, 2, 3, 5].map(rehearsed);
        assert_eq!(found, ["d", "b", "a", "c"].map(|row| (row.to_owned(), "a".to_owned())));
    }
}
