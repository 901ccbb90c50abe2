//! Counts the cache lines and pages that a round of a program touches: what it costs where nothing is in a cache.
//!
//!     touched-lines [--list] PROGRAM...
//!
//! The program executes an `int3` before and after each of its rounds (`tests/programs/bench/touch.c`). It runs at full speed up to the first of
//! the two and instruction by instruction up to the second, where the registers show which memory the next instruction touches. The first
//! rounds are left out, for they find tables empty.
//!
//! Prints the medians over the other rounds as JSON. Of data it also counts those lines and pages that nothing but the recorder touches: all of them are not
//! comparable to those of a run without it, where the heap and stack of MPI begin elsewhere in a line. With `--list` it also prints the lines of the last round that only the recorder touches, with the
//! symbols in them. Only x86-64 Linux has such a tool.

#[cfg(target_arch = "x86_64")]
mod image;
#[cfg(target_arch = "x86_64")]
mod round;
#[cfg(target_arch = "x86_64")]
mod tracee;

#[cfg(target_arch = "x86_64")]
fn main() -> anyhow::Result<()> {
    use anyhow::ensure;

    const N_WARM_UP: usize = 20;

    let mut words: Vec<_> = std::env::args_os().skip(1).collect();
    let is_list_wanted = words.first().is_some_and(|word| word == "--list");
    if is_list_wanted {
        words.remove(0);
    }
    let mut tracee = tracee::Tracee::start(&words)?;
    let mut counts = Vec::new();
    let mut last = None;
    while tracee.run_to_mark()? {
        let image = image::Image::read(tracee.pid())?;
        let mut round = round::Round::default();
        tracee.step_to_mark(|address, step| round.add(step, image.is_recorder(address)))?;
        counts.push(round.counts());
        last = Some((round, image, tracee.thread_pointer()?));
    }
    ensure!(counts.len() > N_WARM_UP, "the program had {} rounds, too few", counts.len());
    println!("{}", serde_json::to_string(&round::RoundCounts::medians(&counts[N_WARM_UP..]))?);
    if let Some((round, mut image, thread_pointer)) = last.filter(|_| is_list_wanted) {
        for line in round.lines_of_recorder() {
            println!("{}", image.describe(line, thread_pointer));
        }
    }
    Ok(())
}

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    eprintln!("touched-lines: only for x86-64");
    std::process::exit(2);
}
