//! The view of a running job on a terminal.

use std::io::{self, Write};
use std::panic;
use std::time::{Duration, Instant};

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use crossterm::style::{PrintStyledContent, StyledContent, Stylize};
use crossterm::terminal::{self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{execute, queue};

use lbprof_collector::words::{CountedNoun, format_seconds};
use lbprof_report::rows::words::{escape_name, text_width};

use super::job_load::RankLoad;
use super::view::JobView;

/// A terminal that is restored on drop.
pub struct TerminalScreen(());

impl TerminalScreen {
    pub fn new() -> io::Result<TerminalScreen> {
        // Otherwise the message of a panic would vanish with the screen.
        let report_panic = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            restore_terminal();
            report_panic(info);
        }));
        terminal::enable_raw_mode()?;
        let screen = TerminalScreen(());
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(screen)
    }

    pub fn show(&mut self, view: &JobView) -> io::Result<()> {
        let (width, height) = terminal::size()?;
        let mut text = Vec::new();
        for (row, line) in (0..height).zip(draw_lines(view, width.into(), height.into())) {
            queue!(text, MoveTo(0, row))?;
            for part in line {
                queue!(text, PrintStyledContent(part))?;
            }
            queue!(text, Clear(ClearType::UntilNewLine))?;
        }
        let mut out = io::stdout().lock();
        out.write_all(&text)?;
        out.flush()
    }

    /// Waits for the next update. Returns whether the user wants to quit.
    pub fn wait(&mut self, time: Duration) -> io::Result<bool> {
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if !event::poll(left)? {
                return Ok(false);
            }
            if let Event::Key(key) = event::read()?
                && key.kind == KeyEventKind::Press
            {
                let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
                if matches!(key.code, KeyCode::Char('q') | KeyCode::Esc) || is_control && key.code == KeyCode::Char('c')
                {
                    return Ok(true);
                }
            }
        }
    }
}

impl Drop for TerminalScreen {
    fn drop(&mut self) {
        restore_terminal();
    }
}

/// Restores the terminal. It may be gone, so errors do not matter.
fn restore_terminal() {
    let _ = terminal::disable_raw_mode();
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
}

type ScreenLine = Vec<StyledContent<String>>;

/// Returns at most `height` lines of at most `columns`.
fn draw_lines(view: &JobView, columns: usize, height: usize) -> Vec<ScreenLine> {
    let ranks = CountedNoun(view.n_ranks as u64, "rank");
    let head = format!("{} · {ranks} · {}", view.command, format_seconds(view.load.so_far.elapsed_s)).bold();
    let facts = view.facts().into_iter().map(Stylize::stylize);
    let mut lines: Vec<ScreenLine> = std::iter::once(head).chain(facts).map(|fact| vec![fact]).collect();
    for part in lines.iter_mut().flatten() {
        *part = StyledContent::new(*part.style(), clip_text(&escape_name(part.content()), columns).to_owned());
    }
    lines.push(Vec::new());
    lines.extend(load_bars(view, columns, height.saturating_sub(lines.len() + 1)));
    lines.resize(height.saturating_sub(1), Vec::new());
    lines.push(vec!["q: leave; the job goes on".to_owned().dim()]);
    lines
}

/// Returns the start of a text that fits into `columns`.
fn clip_text(text: &str, columns: usize) -> &str {
    let ends = text.char_indices().map(|(at, char)| at + char.len_utf8());
    let end = ends.take_while(|&end| text_width(&text[..end]) <= columns).last();
    &text[..end.unwrap_or(0)]
}

/// Draws the recent computation of ranks, the longest first if not all fit.
fn load_bars(view: &JobView, columns: usize, height: usize) -> Vec<ScreenLine> {
    let mut loads: Vec<&RankLoad> = view.load.ranks.iter().collect();
    let fits = loads.len() <= height;
    if !fits {
        loads.sort_by(|a, b| b.lately_s.total_cmp(&a.lately_s).then(a.rank.cmp(&b.rank)));
        loads.truncate(height.saturating_sub(1));
    }
    let slowest = view.slowest.as_ref().map(|slowest| slowest.rank);
    let columns = columns.saturating_sub(24);
    let mut lines: Vec<ScreenLine> = Vec::with_capacity(loads.len() + 1);
    for load in loads {
        let period_s = view.load.lately.elapsed_s;
        let share = if period_s > 0.0 { (load.lately_s / period_s).min(1.0) } else { 0.0 };
        let filled = (share * columns as f64).round() as usize;
        let bar = "█".repeat(filled);
        lines.push(vec![
            format!("rank {:>6} {:>4.0} % ", load.rank, 100.0 * share).stylize(),
            if slowest == Some(load.rank) { bar.dark_red() } else { bar.dark_blue() },
            "░".repeat(columns - filled).dim(),
        ]);
    }
    if !fits {
        let left_out = view.load.ranks.len() - lines.len();
        lines.push(vec![format!("and {} with less computation", CountedNoun(left_out as u64, "rank")).stylize()]);
    }
    lines
}

#[cfg(test)]
mod tests {
    use lbprof_analysis::metrics::spread::load_balance::EfficiencyTimes;

    use super::super::job_load::JobLoad;
    use super::super::view::{BusiestRank, JobState};
    use super::*;

    fn screen_of(n_ranks: u32, height: usize) -> String {
        let load_of = |rank| RankLoad { rank, lately_s: if rank == 1 { 8.0 } else { 4.0 }, total_s: 5.0 };
        let load = JobLoad {
            lately: EfficiencyTimes::from_computation(&[8.0, 2.0], 10.0, None),
            so_far: EfficiencyTimes::from_computation(&[9.6, 2.4], 12.0, None),
            ranks: (0..n_ranks).map(load_of).collect(),
        };
        let view = JobView {
            command: "./heat".to_owned(),
            n_ranks: n_ranks as usize,
            state: JobState::Runs,
            load,
            slowest: Some(BusiestRank { rank: 1, times_mean: 1.6, function: None }),
            recurrence: None,
            long_calls: Vec::new(),
            unread_bytes: 0,
        };
        let lines = draw_lines(&view, 60, height)
            .into_iter()
            .map(|line| line.iter().map(|part| part.content().as_str()).collect::<String>());
        lines.collect::<Vec<String>>().join("\n")
    }

    #[test]
    fn each_rank_has_a_bar_of_its_computation() {
        let screen = screen_of(2, 10);
        let filled = |rank: u32| {
            let line = screen.lines().find(|line| line.contains(&format!("rank {rank:>6}"))).unwrap();
            line.matches('█').count()
        };
        assert_eq!((filled(0), filled(1)), (14, 29), "{screen}");
        assert!(screen.contains("rank 1 has 1.6 times the average work"), "{screen}");
    }

    #[test]
    fn of_many_ranks_those_with_most_computation_are_shown() {
        let screen = screen_of(100, 12);
        assert!(
            screen.contains("rank      1   80 %") && screen.contains("and 95 ranks with less computation"),
            "{screen}"
        );
    }

    #[test]
    fn a_line_that_is_too_long_loses_its_end() {
        assert_eq!((clip_text("rank 1", 4), clip_text("rank 1", 9), clip_text("", 3)), ("rank", "rank 1", ""));
        assert_eq!(clip_text("日本", 3), "日", "wide characters take two columns");
    }

    #[test]
    fn the_screen_has_its_height_and_width() {
        for height in [0, 1, 5, 12] {
            let screen = screen_of(3, height);
            assert!(screen.lines().count() <= height.max(1), "{height}: {screen}");
            assert!(
                screen.lines().all(|line| text_width(line) <= 60) && screen.ends_with("q: leave; the job goes on"),
                "{screen}"
            );
        }
    }
}
