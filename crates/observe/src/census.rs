//! Who is whose child: one look at all processes serves every target.
//!
//! Knows parents alone; must not know what is counted for a process.

use std::collections::HashMap;

use crate::files::{self, Places};
use crate::parse::process;

/// What was read of a process holds that long: an id comes back only when all others were used.
const KEPT_NS: u64 = 10_000_000_000;

/// The parents of all processes, as they were last seen.
#[derive(Debug, Default)]
pub(crate) struct Census {
    parents: HashMap<u32, u32>,
    taken_ns: Option<u64>,
}

/// The children of each process, in the order of their ids.
pub(crate) type Children = HashMap<u32, Vec<u32>>;

impl Census {
    /// Looks for all processes. Only new ones are read, unless the last look is long ago.
    pub(crate) fn take(&mut self, places: &Places, now_ns: u64) -> Children {
        let fresh = self.taken_ns.is_some_and(|then| now_ns.saturating_sub(then) < KEPT_NS);
        let known = if fresh { std::mem::take(&mut self.parents) } else { HashMap::new() };
        self.taken_ns = Some(now_ns);
        self.parents = files::numbers(&places.proc)
            .into_iter()
            .filter_map(|pid| {
                Some((pid, known.get(&pid).copied().or_else(|| parent(places, pid))?))
            })
            .collect();
        let mut children = Children::new();
        for (pid, parent) in &self.parents {
            children.entry(*parent).or_default().push(*pid);
        }
        for ids in children.values_mut() {
            ids.sort_unstable();
        }
        children
    }
}

fn parent(places: &Places, pid: u32) -> Option<u32> {
    let text = files::read(&places.process(pid, "stat")).ok()?;
    Some(process::stat(&text)?.parent)
}
