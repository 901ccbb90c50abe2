//! What users are advised to do where threads cannot be sampled follows the system's error.

use std::io;

use crate::sampling::refusal_advice;

fn event(number: i32, paranoid: Option<i64>) -> String {
    refusal_advice::explain_event(&io::Error::from_raw_os_error(number), paranoid)
}

#[test]
fn advice_follows_the_error() {
    for forbidden in [libc::EACCES, libc::EPERM] {
        assert!(
            event(forbidden, Some(4))
                .contains("is 4; an administrator can allow it: sysctl kernel.perf_event_paranoid=2")
        );
        for allowed in [Some(2), Some(-1), None] {
            let advice = event(forbidden, allowed);
            assert!(advice.contains("container") && !advice.contains("sysctl"), "{advice}");
        }
    }
    for other in [libc::ENOSYS, libc::ENOENT, libc::EMFILE, libc::EBUSY] {
        let advice = event(other, Some(4));
        assert!(!advice.contains("paranoid") && !advice.contains("os error"), "{advice}");
    }
    assert!(event(libc::ENOSYS, Some(2)).contains("an emulator"));
}

#[test]
fn a_limit_of_memory_is_advised_to_be_raised_only_where_it_forbids() {
    let memory = |number| refusal_advice::explain_memory(&io::Error::from_raw_os_error(number), Some(516));
    assert!(memory(libc::EPERM).contains("kernel.perf_event_mlock_kb is 516"));
    assert_eq!(memory(libc::ENOMEM), "memory for samples: no memory is left");
}
