//! What sleeping programs say of their own computations, by their own clock (programs/work.h), and how a run is judged by it.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::Value;

/// The environment variable with the path of what the ranks say, less `.<rank>`.
pub const VARIABLE: &str = "LBTEST_TRUTH";

/// Runs before a disturbed one has to do.
const ATTEMPTS: usize = 4;

#[derive(Clone, Debug)]
pub struct OwnClocks {
    pub computations_s: Vec<Vec<f64>>,
    /// By how many seconds all ranks' computations went astray from the plan of the program's head: longer, shorter, or begun too late.
    pub astray_s: f64,
}

impl OwnClocks {
    pub fn read(path: &Path, ranks: usize) -> anyhow::Result<Self> {
        let mut own = OwnClocks { computations_s: Vec::new(), astray_s: 0.0 };
        for rank in 0..ranks {
            let file = path.with_extension(rank.to_string());
            let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
            let mut computations = Vec::new();
            for line in text.lines() {
                let (took, astray) = line.trim().split_once(' ').with_context(|| format!("rank {rank}: {line}"))?;
                computations.push(took.parse()?);
                own.astray_s += astray.parse::<f64>()?;
            }
            own.computations_s.push(computations);
        }
        Ok(own)
    }
}

/// Runs a program until what the report says agrees with `check`, whose last argument is how many seconds went astray that must be
/// allowed for: none.
///
/// A machine that is busy with other things may disturb every run. Then the least disturbed one is judged with room for what its own
/// clocks say went astray, on a quiet machine next to nothing: an error of ours is not in the program's clocks, so it still shows.
///
/// Errors: what was wrong in each run.
pub fn judge(
    mut run: impl FnMut() -> anyhow::Result<(OwnClocks, Value)>,
    check: impl Fn(&OwnClocks, &Value, f64) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut disturbed: Vec<(OwnClocks, Value)> = Vec::new();
    let mut errors = Vec::new();
    for _ in 0..ATTEMPTS {
        let (own, report) = run()?;
        match check(&own, &report, 0.0) {
            Ok(()) => return Ok(()),
            Err(error) => errors.push(format!("{:.3} s astray: {error:#}", own.astray_s)),
        }
        disturbed.push((own, report));
    }
    let least = disturbed.iter().min_by(|(one, _), (other, _)| one.astray_s.total_cmp(&other.astray_s));
    let (own, report) = least.context("no run")?;
    if let Err(error) = check(own, report, own.astray_s) {
        bail!(
            "{ATTEMPTS} runs; each time:\n{}\nwith room for what went astray in the best:\n{error:#}",
            errors.join("\n\n")
        );
    }
    eprintln!("every run was disturbed; the best, in which {:.3} s went astray, agrees as far as that", own.astray_s);
    Ok(())
}
