//! From a seed to a scenario of traffic: sessions over several routes, or conversations, with feeds, captures and
//! thought.
//!
//! Knows which combinations are allowed. Must not know how they are played.

use serde_json::{Value, json};
use wiretrial_net::simulation::{Nature, Random};
use wiretrial_proto::websocket::DeflateConfig;

use super::draw::stages;
use super::draw_talk::{lines, talk, think};
use super::scenario::{MS, Manners, Scenario, US};
use super::secure::Secrets;
use super::spoken::{Right, Spoken};
use crate::plan::Plan;

/// So many sessions are about what one world has.
const SESSIONS: u64 = 50;
/// In one of so many turns a reply is judged; 0: never.
const JUDGES_ONCE_IN: &[u64] = &[0, 1, 1, 20, 300];

impl Scenario {
    /// What this seed says of traffic.
    pub(super) fn of_traffic(seed: u64) -> Self {
        Draw { random: Random::new(seed ^ 0x7472_6166), talks: false }.scenario(seed)
    }

    /// What this seed says of conversations.
    pub(super) fn of_talk(seed: u64) -> Self {
        Draw { random: Random::new(seed ^ 0x7461_6c6b), talks: true }.scenario(seed)
    }
}

struct Draw {
    random: Random,
    talks: bool,
}

impl Draw {
    fn scenario(mut self, seed: u64) -> Scenario {
        let good = self.random.once_in(5);
        let calm_at = if good { 0 } else { self.random.between(300, 1_500) * MS };
        let timeout = if good { 8_000 * MS } else { self.random.between(60, 400) * MS };
        let settled = calm_at + 2 * timeout + 1_500 * MS;
        let duration = if good { self.random.between(200, 1_500) * MS } else { settled + 700 * MS };
        let (connections, users, threads) = self.crowd();
        let is_open = self.random.once_in(2);
        let is_counted = self.random.once_in(3);
        let flows = self.random.between(1, 3);
        let steps = SESSIONS * 2;
        let seconds = connections as f64 * duration as f64 / 1e9 / steps as f64;
        let service = if is_open || is_counted {
            self.random.of(&[0, 10 * US, MS, 20 * MS])
        } else {
            // In a closed loop nothing else keeps the world small.
            ((2e9 * seconds) as u64).clamp(MS, 60 * MS)
        };
        let rate = SESSIONS as f64 / (duration as f64 / 1e9);
        let executor = if is_open {
            json!({
                "kind": "open", "rate": rate, "pacing": self.random.of(&["constant", "poisson"]),
            })
        } else {
            json!({"kind": "closed"})
        };
        let stop = if is_counted {
            json!({"sessions": self.random.between(1, SESSIONS)})
        } else {
            json!({"duration_ns": duration})
        };
        let secure = self.random.once_in(8);
        // Sessions without an end neither arrive nor are counted.
        let is_timed = !is_open && !is_counted;
        let flows: Vec<_> =
            (0..flows).map(|number| self.flow_or_talk(number, is_open, is_timed)).collect();
        let spoken = self.spoken();
        let deflates = spoken == Spoken::WebSocket && self.random.once_in(6);
        let redirects = !self.talks && self.random.once_in(3);
        let document = json!({
            "schema": "wiretrial-plan",
            "version": 1,
            "target": {
                "url": spoken.url(secure).trim_end_matches(char::is_alphabetic),
                "websocket": {"deflate": deflates.then(|| json!({}))},
                "tls": {"insecure": true, "resumption": self.random.once_in(2)},
            },
            "traffic": {
                "feeds": self.feeds(is_open, users.unwrap_or(connections)),
                "routes": if self.talks { json!([]) } else { routes(redirects) },
                "lines": if self.talks { lines(spoken) } else { json!([]) },
                "flows": flows,
                "sample": self.random.of(&[0.0, 0.3, 1.0]),
            },
            "load": {
                "connections": connections,
                "users": users,
                "executor": executor,
                "stages": stages(&mut self.random, duration, is_counted),
                "seed": self.random.any() >> 12,
            },
            "stop": stop,
            "generator": {"threads": threads},
            "phases": {
                "connect_ns": 20_000 * MS,
                "warmup_ns": if self.random.once_in(4) { 100 * MS } else { 0 },
                "drain_ns": self.random.of(&[0, 50, 500, 2_000]) * MS,
                "timeout_ns": timeout,
                "interval_ns": self.random.of(&[100, 250]) * MS,
            },
        });
        let most = self.random.of(&[1, 3, 40, 1_000_000]);
        let manners = Manners {
            redirects,
            seed: self.random.any(),
            spoken,
            right: if self.talks { Right::Talk } else { Right::Routes },
            good,
            mild: false,
            calm_at,
            bad_once_in: self.random.between(1, 3),
            lies: self.random.once_in(2),
            service,
            piece: most,
            gap: if most == 1 { 0 } else { self.random.of(&[0, 0, 20 * US]) },
            connect: if self.random.once_in(2) { 50 * US } else { 3 * MS },
            greetings: 0,
            text: self.talks,
            differ: true,
            deflate: deflates.then(DeflateConfig::default),
            reorders: false,
            scattered: false,
            secrets: secure.then(|| Secrets::new(self.random.once_in(3))),
        };
        let stop_at = self.random.once_in(8).then(|| self.random.between(1, 3_000) * MS);
        let nature = self.nature(secure);
        let plan = Plan::from_json(&document.to_string());
        let plan = plan.unwrap_or_else(|error| panic!("seed {seed}: {error}: {document}"));
        Scenario { plan, nature, manners, stop_at, judges_once_in: self.random.of(JUDGES_ONCE_IN) }
    }

    fn spoken(&mut self) -> Spoken {
        if !self.talks {
            Spoken::Http
        } else if self.random.once_in(3) {
            Spoken::SocketIo
        } else {
            Spoken::WebSocket
        }
    }

    /// Connections, users who share them, threads.
    fn crowd(&mut self) -> (u64, Option<u64>, u32) {
        let connections = self.random.between(1, 6);
        // A pool, mostly a small one.
        let users = (!self.talks && self.random.once_in(3)).then(|| self.random.between(1, 12));
        let is_parted = connections > 1 && users.is_none() && self.random.once_in(4);
        (connections, users, if is_parted { 2 } else { 1 })
    }

    fn flow_or_talk(&mut self, number: u64, is_open: bool, may_be_endless: bool) -> Value {
        if self.talks {
            talk(&mut self.random, number, may_be_endless)
        } else {
            self.flow(number, is_open)
        }
    }

    /// A login first, and then what needs its token, or not.
    fn flow(&mut self, number: u64, is_open: bool) -> Value {
        let first = if is_open { json!({"kind": "none"}) } else { think(&mut self.random) };
        let mut steps = vec![json!({"route": 0, "think": first})];
        for _ in 0..self.random.up_to(3) {
            steps.push(json!({"route": self.random.up_to(2), "think": think(&mut self.random)}));
        }
        json!({
            "name": number.to_string(),
            "weight": self.random.between(1, 4),
            "feed": "users",
            "cookies": self.random.once_in(2),
            "steps": steps,
        })
    }

    fn feeds(&mut self, is_open: bool, connections: u64) -> Value {
        let order = self.random.of(&["sequential", "shuffled", "unique"]);
        let least = if is_open { 1 } else { connections };
        let count = self.random.between(least, least + 30);
        let rows: Vec<_> = (0..count).map(|row| json!([format!("u{row}")])).collect();
        json!([{"name": "users", "columns": ["user"], "rows": rows, "order": order}])
    }

    fn nature(&mut self, secure: bool) -> Nature {
        Nature {
            seed: self.random.any(),
            receives_in_wait: self.random.once_in(2),
            buffer_bytes: self.random.of(&[64, 1_000, 64 * 1024]),
            // A handshake is long: byte by byte it takes too many turns.
            piece_bytes: self.random.of(&[1, 100, 8 * 1024]).max(if secure { 16 } else { 1 }),
            send_buffer: self.random.of(&[600, 5_000, 1 << 20]),
            clock_step: self.random.of(&[0, 200, 5_000]),
            lateness: self.random.of(&[0, 1_000, 60 * US]),
            pauses_once_in: self.random.of(&[0, 0, 500]),
            short_writes_once_in: self.random.of(&[0, 2, 20]),
            submits_once_in: self.random.of(&[0, 3, 30]),
            latency: self.random.of(&[0, 0, 2_000, 100 * US]),
        }
    }
}

/// What peers answer, as [`Right::Routes`] does: `login` gives a token, `use` needs that of the same user.
fn routes(redirects: bool) -> Value {
    let equals = |path: &str, part: Value| {
        let with = json!({"text": [part]});
        json!({"of": {"json": path}, "test": {"is": "compared", "how": "==", "with": with}})
    };
    let route = |name: &str, token: Value| {
        let mut body = vec![
            json!({"text": "{\"seq\":"}),
            json!({"make": "seq"}),
            json!({"text": ",\"user\":\""}),
            json!({"json": "user"}),
            json!({"text": "\""}),
        ];
        if token.is_string() {
            body.extend([
                json!({"text": ",\"token\":\""}),
                json!({"json": token}),
                json!({"text": "\""}),
            ]);
        }
        body.push(json!({"text": "}"}));
        json!({
            "name": name, "method": "POST", "target": [{"text": "/"}, {"url": "user"}],
            "headers": [["X-Name", [{"text": name}]]],
            "body": body,
            "follow": if redirects { 9 } else { 0 },
            "expect": {"checks": [
                equals("$.seq", json!({"make": "seq"})),
                equals("$.items[1].user", json!({"value": "user"})),
                {"of": {"json": "$.items[*]"}, "count": true,
                 "test": {"is": "compared", "how": "==", "with": {"json": 2}}},
                {"of": "status", "test": {"is": "compared", "how": "<", "with": {"json": 300}}},
                {"of": "body", "filters": [{"jsonpath": "$.items[?@.n == -1]"}], "count": true,
                 "test": {"is": "compared", "how": "==", "with": {"json": 0}}},
                {"of": {"json": "$.seq"}, "filters": ["to_string"],
                 "test": {"is": "compared", "how": "==", "with": {"text": [{"make": "seq"}]}}},
                {"of": {"json": "$.items[1].user"}, "filters": [{"split": "\n"}, {"nth": 0}],
                 "test": {"is": "compared", "how": "==", "with": {"text": [{"value": "user"}]}}},
            ]},
        })
    };
    let mut login = route("login", json!(null));
    login["captures"] = json!([{"name": "token", "of": {"json": "$.token"}}]);
    let mut plain = route("plain", json!(null));
    plain["body"][0] = json!({"text": "{\"plain\":1,\"seq\":"});
    json!([login, route("use", json!("token")), plain])
}
