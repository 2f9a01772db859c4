//! What holds for any bytes.

use proptest::collection::vec;
use proptest::prelude::{any, prop_assert_eq, proptest};

use super::stage::{messages, open, told_events, upgraded};
use crate::common::{cuts_from, run_client};

proptest! {
    #[test]
    fn bytes_are_events_or_an_error_however_they_are_cut(
        input in vec(any::<u8>(), 0..200), distances in vec(any::<u8>(), 0..20),
    ) {
        for fresh in [upgraded, open, told_events] {
            let whole = run_client(&mut fresh(), &input, &[], true);
            let cuts = cuts_from(&distances, input.len());
            prop_assert_eq!(run_client(&mut fresh(), &input, &cuts, true), whole);
        }
    }

    #[test]
    fn messages_are_events_or_an_error_however_they_are_cut(
        texts in vec("[0-6]{0,3}[0-9]{0,2}[\\[{/a]{0,2}", 0..6),
        distances in vec(any::<u8>(), 0..20),
    ) {
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        let input = messages(&texts);
        for fresh in [upgraded, open, told_events] {
            let whole = run_client(&mut fresh(), &input, &[], true);
            let cuts = cuts_from(&distances, input.len());
            prop_assert_eq!(run_client(&mut fresh(), &input, &cuts, true), whole);
        }
    }
}
