//! Our codec of HTTP/2 and the crate `h2`, in both roles, in memory: random exchanges, windows, trailers,
//! resets and goodbyes, with every byte cut at random.
//!
//! What either side is told must be what the other one said. A conversation is drawn from a seed, and a seed
//! plays the same conversation each time. `DIFFERENTIAL_CASES` says how many are drawn (20,000: one conversation
//! for fifty), `DIFFERENTIAL_SEED` from which on (1).
//!
//! ```text
//! asking (our client, h2's server), answering (h2's client, our server) -> draw, line, tasks
//! ```

#[cfg(test)]
mod answering;
#[cfg(test)]
mod asking;
#[cfg(test)]
mod draw;
#[cfg(test)]
mod line;
#[cfg(test)]
mod tasks;

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::{answering, asking};

    /// Cases that one conversation stands for: it has many messages, and each of their bytes is cut.
    const CASES_EACH: u64 = 50;

    /// Plays many conversations; the first that goes wrong is named.
    fn on_many(play: fn(u64)) {
        let number = |name: &str, default| {
            let given = std::env::var(name).ok();
            given.map_or(default, |text| text.parse().expect("a whole number"))
        };
        let from: u64 = number("DIFFERENTIAL_SEED", 1);
        for seed in from..from + number("DIFFERENTIAL_CASES", 20_000).div_ceil(CASES_EACH) {
            if let Err(panic) = catch_unwind(|| play(seed)) {
                println!("to repeat it: DIFFERENTIAL_SEED={seed} DIFFERENTIAL_CASES=1");
                std::panic::resume_unwind(panic);
            }
        }
    }

    #[test]
    fn our_client_and_the_server_of_h2_understand_each_other() {
        on_many(asking::play);
    }

    #[test]
    fn the_client_of_h2_and_our_server_understand_each_other() {
        on_many(answering::play);
    }
}
