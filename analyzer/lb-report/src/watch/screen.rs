//! The view of a running job on a terminal.

use std::io;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use ratatui::{DefaultTerminal, Frame};

use lbprof_collector::words::{CountedNoun, bytes, seconds};

use super::job_load::RankLoad;
use super::view::{BusiestRank, JobState, JobView, LongCall, efficiencies, rate};

/// A terminal whose contents come back when it is dropped.
pub struct TerminalScreen {
    terminal: DefaultTerminal,
}

impl TerminalScreen {
    /// Takes the terminal.
    ///
    /// Errors: what the system says.
    pub fn new() -> io::Result<TerminalScreen> {
        Ok(TerminalScreen { terminal: ratatui::try_init()? })
    }

    /// Shows the job.
    ///
    /// Errors: what the system says.
    pub fn show(&mut self, view: &JobView) -> io::Result<()> {
        self.terminal.draw(|frame| draw(frame, view)).map(drop)
    }

    /// Waits for the next update. Returns whether the user wants to quit.
    ///
    /// Errors: what the system says.
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
        ratatui::restore();
    }
}

/// Draws the job.
pub fn draw(frame: &mut Frame, view: &JobView) {
    let facts = facts(view);
    let [top, ranks, bottom] =
        Layout::vertical([Constraint::Length(facts.len() as u16 + 1), Constraint::Min(0), Constraint::Length(1)])
            .areas(frame.area());
    frame.render_widget(Paragraph::new(facts), top);
    frame.render_widget(Paragraph::new(bars(view, ranks.width, ranks.height)), ranks);
    let keys = "q: leave; the job goes on";
    frame.render_widget(Paragraph::new(keys).style(Style::default().add_modifier(Modifier::DIM)), bottom);
}

fn facts(view: &JobView) -> Vec<Line<'static>> {
    let bold = Style::default().add_modifier(Modifier::BOLD);
    let ranks = CountedNoun(view.n_ranks as u64, "rank");
    let title = format!("{} · {ranks} · {}", view.command, seconds(view.load.elapsed_s));
    let mut lines = vec![Line::styled(title, bold)];
    if view.state == JobState::Starts {
        lines.push(Line::raw("The job starts: not all ranks have left MPI_Init."));
    }
    lines.extend(
        view.load
            .lately
            .map(|lately| Line::raw(format!("last {:7}  {}", seconds(view.load.period_s), efficiencies(&lately)))),
    );
    lines.extend(view.load.so_far.map(|so_far| Line::raw(format!("so far       {}", efficiencies(&so_far)))));
    lines.extend(view.slowest.as_ref().and_then(BusiestRank::sentence).map(|sentence| Line::styled(sentence, bold)));
    lines.extend(view.recurrence.as_ref().map(|(what, per_second)| Line::raw(rate(what, *per_second))));
    lines.extend(view.long_calls.iter().take(3).map(|call| Line::raw(LongCall::sentence(call))));
    if view.unread_bytes > 0 {
        lines.push(Line::raw(format!("still reading what was recorded before: {} left", bytes(view.unread_bytes))));
    }
    lines
}

/// Draws the recent computation of ranks. If not all fit, the longest come first.
fn bars(view: &JobView, width: u16, height: u16) -> Vec<Line<'static>> {
    let mut loads: Vec<&RankLoad> = view.load.ranks.iter().collect();
    let fits = loads.len() <= usize::from(height);
    if !fits {
        loads.sort_by(|a, b| b.lately_s.total_cmp(&a.lately_s).then(a.rank.cmp(&b.rank)));
        loads.truncate(usize::from(height).saturating_sub(1));
    }
    let slowest = view.slowest.as_ref().map(|slowest| slowest.rank);
    let columns = usize::from(width).saturating_sub(24);
    let mut lines: Vec<Line> = Vec::with_capacity(loads.len() + 1);
    for load in loads {
        let share = if view.load.period_s > 0.0 { (load.lately_s / view.load.period_s).min(1.0) } else { 0.0 };
        let filled = (share * columns as f64).round() as usize;
        let color = if slowest == Some(load.rank) { Color::Red } else { Color::Blue };
        lines.push(Line::from(vec![
            Span::raw(format!("rank {:>6} {:>4.0} % ", load.rank, 100.0 * share)),
            Span::styled("█".repeat(filled), Style::default().fg(color)),
            Span::styled("░".repeat(columns - filled), Style::default().add_modifier(Modifier::DIM)),
        ]));
    }
    if !fits {
        let left_out = view.load.ranks.len() - lines.len();
        lines.push(Line::raw(format!("and {} with less computation", CountedNoun(left_out as u64, "rank"))));
    }
    lines
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::super::job_load::{JobLoad, PeriodEfficiencies};
    use super::*;

    fn screen_of(n_ranks: u32, height: u16) -> String {
        let found = PeriodEfficiencies { parallel: 0.5, load_balance: 0.625, communication: 0.8 };
        let load_of = |rank| RankLoad { rank, lately_s: if rank == 1 { 8.0 } else { 4.0 }, total_s: 5.0 };
        let load = JobLoad {
            elapsed_s: 12.0,
            period_s: 10.0,
            lately: Some(found),
            so_far: Some(found),
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
        let mut terminal = Terminal::new(TestBackend::new(60, height)).unwrap();
        terminal.draw(|frame| draw(frame, &view)).unwrap();
        terminal.backend().to_string()
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
}
