//! What comes of asking a plan's messages one by one.

use serde_json::Value;
use wiretrial_load::exchange::{End, Exchange, Told};
use wiretrial_load::plan::Plan;
use wiretrial_load::{Asking, Control};

/// Every exchange, and the end; the plan is one that can be asked.
pub(crate) fn of(plan: &Value, asking: &Asking) -> (Vec<Exchange>, End) {
    let plan = Plan::from_json(&plan.to_string()).expect("a plan");
    let (mut exchanges, mut end) = (Vec::new(), None);
    let told = wiretrial_load::ask(&plan, asking, &Control::default(), |told| {
        match told {
            Told::Exchange(exchange) => exchanges.push(Exchange::clone(exchange)),
            Told::End { end: last } => end = Some(*last),
        }
        Ok(())
    });
    told.expect("it can be asked");
    (exchanges, end.expect("an end"))
}
