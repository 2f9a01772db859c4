//! Every parser of the kernel's files, given one text: by the property and by the fuzz target.

use wiretrial_observe::parse::groups::CpuFilesOf1;
use wiretrial_observe::parse::{config, groups, machine, net, process};

/// Gives one text to every parser.
pub(crate) fn read_all(text: &str) {
    let some = Some(text);
    let _ = (process::stat(text), process::schedstat(text), process::pss(text));
    let _ = (process::written(text), process::descriptor_limit(text));
    let _ = (machine::stat(text), machine::softnet(text), machine::pressure(text));
    let _ = (net::counters(text, "Tcp"), net::counters(text, "TcpExt"));
    let _ = (config::is_one(text), config::is_set(text, "HZ"), config::value(text, ""));
    let _ = (groups::memberships(text), groups::members(text).count());
    for mount in groups::mounts(text) {
        let _ = groups::below(text, &mount.root);
    }
    let _ = groups::below(text, text);
    let _ = (groups::cpu_of_2(some, some), groups::memory(some, some, some, some));
    let files = CpuFilesOf1 { usage: some, modes: some, stat: some, quota: some, period: some };
    let _ = groups::cpu_of_1(&files, u64::MAX);
}
