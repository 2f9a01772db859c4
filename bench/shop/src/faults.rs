//! Which replies are wrong or late on purpose, and how many were.
//!
//! Knows counts. Must not know what a right reply is.

/// A total is a cent too high, in one of so many orders.
const EACH_TOTAL: u64 = 1000;
/// An item is shown as another user's, in one of so many.
const EACH_LEAK: u64 = 500;
/// An order fails with a 500 in one of so many, while so many connections are open.
const EACH_OVERLOAD: u64 = 200;
const LOADED: usize = 32;
/// A list is held back in one of so many.
const EACH_SLOW: u64 = 50;

/// One kind of fault.
#[derive(Debug, Default)]
struct Fault {
    is_wanted: bool,
    occasions: u64,
    planted: u64,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    total: Fault,
    leak: Fault,
    overload: Fault,
    slow: Fault,
    /// Connections that are open.
    pub(crate) open: usize,
}

impl Faults {
    /// Those of these names; none: a name is not known.
    pub(crate) fn of(names: &[String]) -> Option<Self> {
        let mut all = Self::default();
        for name in names {
            let fault = match name.as_str() {
                "total" => &mut all.total,
                "leak" => &mut all.leak,
                "overload" => &mut all.overload,
                "slow" => &mut all.slow,
                _ => return None,
            };
            fault.is_wanted = true;
        }
        Some(all)
    }

    /// Shall this order's total be wrong?
    pub(crate) fn total(&mut self) -> bool {
        self.total.strikes(EACH_TOTAL)
    }

    /// Shall this item be another user's?
    pub(crate) fn leak(&mut self) -> bool {
        self.leak.strikes(EACH_LEAK)
    }

    /// Shall this order fail?
    pub(crate) fn overload(&mut self) -> bool {
        self.open >= LOADED && self.overload.strikes(EACH_OVERLOAD)
    }

    /// Shall this list be late?
    pub(crate) fn slow(&mut self) -> bool {
        self.slow.strikes(EACH_SLOW)
    }

    /// How many of each were put in, as JSON.
    pub(crate) fn planted(&self) -> String {
        format!(
            r#"{{"total":{},"leak":{},"overload":{},"slow":{}}}"#,
            self.total.planted, self.leak.planted, self.overload.planted, self.slow.planted
        )
    }
}

impl Fault {
    fn strikes(&mut self, each: u64) -> bool {
        if !self.is_wanted {
            return false;
        }
        self.occasions += 1;
        let strikes = self.occasions.is_multiple_of(each);
        self.planted += u64::from(strikes);
        strikes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_that_is_wanted_strikes_each_so_many_th_time_and_is_counted() {
        let mut faults = Faults::of(&["total".to_owned()]).unwrap();
        let struck = (0..2000).filter(|_| faults.total()).count();
        assert_eq!(struck, 2);
        assert!((0..2000).all(|_| !faults.leak()));
        assert_eq!(faults.planted(), r#"{"total":2,"leak":0,"overload":0,"slow":0}"#);
    }

    #[test]
    fn an_order_fails_under_load_alone() {
        let mut faults = Faults::of(&["overload".to_owned()]).unwrap();
        faults.open = LOADED - 1;
        assert!((0..1000).all(|_| !faults.overload()));
        faults.open = LOADED;
        assert_eq!((0..1000).filter(|_| faults.overload()).count(), 5);
    }

    #[test]
    fn a_name_that_is_not_known_is_refused() {
        assert!(Faults::of(&["totals".to_owned()]).is_none());
    }
}
