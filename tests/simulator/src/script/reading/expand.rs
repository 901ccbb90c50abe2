//! The statements of a section → the steps of one rank: loops unrolled, expressions evaluated, names of communicators resolved.

use std::collections::HashMap;

use super::expression::evaluate;
use super::statement::{Node, Statement, duration, names, whole};
use crate::script::error::ScriptError;
use crate::script::program::Script;
use crate::script::step::{
    Action, COLLECTIVES, COMPLETIONS, Call, Collective, Data, EPOCHS, Epoch, EpochStep, Incoming, On, Outgoing, PROBES,
    Peer, Protocol, RECEIVES, SENDS, ScriptStep, Shape, Start, Style, Styles, Which, is_called, style,
};
use lbprof_collector::definition::RegionKind;
use lbprof_collector::operation::Operation;

/// Words that the next word is the value of.
const KEYS: &[&str] = &["tag", "recvtag", "bytes", "on", "as", "root", "to", "from"];

/// Bytes of a message or block unless the script says otherwise.
const BYTES: u64 = 8;

pub(in crate::script) struct Expander<'a> {
    script: &'a Script,
    rank: u32,
    pub steps: Vec<ScriptStep>,
    names: Vec<(String, f64)>,
    windows: HashMap<String, usize>,
}

struct Arguments<'a> {
    plain: Vec<&'a str>,
    keyed: Vec<(&'a str, &'a str)>,
}

impl<'a> Arguments<'a> {
    fn of(text: &'a str) -> Result<Self, String> {
        let mut arguments = Arguments { plain: Vec::new(), keyed: Vec::new() };
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            if KEYS.contains(&word) {
                let value = words.next().ok_or_else(|| format!("nothing follows `{word}`"))?;
                arguments.keyed.push((word, value));
            } else {
                arguments.plain.push(word);
            }
        }
        Ok(arguments)
    }

    fn first(&mut self) -> Option<&'a str> {
        (!self.plain.is_empty()).then(|| self.plain.remove(0))
    }

    fn value(&mut self, key: &str) -> Option<&'a str> {
        let at = self.keyed.iter().position(|&(found, _)| found == key)?;
        Some(self.keyed.remove(at).1)
    }

    fn done(self) -> Result<(), String> {
        match (self.plain.first(), self.keyed.first()) {
            (Some(word), _) | (_, Some((word, _))) => Err(format!("`{word}` is not expected")),
            _ => Ok(()),
        }
    }
}

fn need<T>(value: Option<T>, what: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("{what} is missing"))
}

impl<'a> Expander<'a> {
    pub fn new(script: &'a Script, rank: u32) -> Self {
        Expander { script, rank, steps: Vec::new(), names: names(script, rank), windows: HashMap::new() }
    }

    pub fn nodes(&mut self, nodes: &[Node<'_>]) -> Result<(), ScriptError> {
        for node in nodes {
            let (word, rest) = node.statement.split();
            let wrong = |what: String| node.statement.error(what);
            match word {
                "repeat" => self.repeat(node, rest)?,
                "if" => {
                    if evaluate(rest, &self.names).map_err(wrong)? != 0.0 {
                        self.nodes(&node.body)?;
                    }
                }
                "phase" | "iteration" => {
                    let region = region(rest, word == "iteration").map_err(wrong)?;
                    self.step(&node.statement, region);
                    self.nodes(&node.body)?;
                    self.step(&node.statement, Action::Leave);
                }
                _ => {
                    let action = self.action(word, rest).map_err(wrong)?;
                    self.step(&node.statement, action);
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, statement: &Statement<'_>, action: Action) {
        self.steps.push(ScriptStep { line: statement.line, index: statement.index, action });
    }

    fn repeat(&mut self, node: &Node<'_>, rest: &str) -> Result<(), ScriptError> {
        let wrong = |what: String| node.statement.error(what);
        let mut arguments = Arguments::of(rest).map_err(wrong)?;
        let name = arguments.value("as").unwrap_or("i").to_owned();
        let times = need(arguments.first(), "how often").and_then(|text| whole(text, &self.names)).map_err(wrong)?;
        arguments.done().map_err(wrong)?;
        for i in 0..times {
            self.names.push((name.clone(), i as f64));
            self.nodes(&node.body)?;
            self.names.pop();
        }
        Ok(())
    }

    fn action(&mut self, name: &str, rest: &str) -> Result<Action, String> {
        let mut arguments = Arguments::of(rest)?;
        if name == "compute" {
            let time = need(arguments.first(), "how long")?;
            arguments.done()?;
            return Ok(Action::Compute(duration(time, &self.names)?));
        }
        let call = self.call(name, &mut arguments)?.ok_or_else(|| format!("`{name}` is no statement"))?;
        arguments.done()?;
        Ok(Action::Call(call))
    }

    fn call(&mut self, name: &str, arguments: &mut Arguments<'_>) -> Result<Option<Call>, String> {
        if let Some(&(operation, which, waits)) = COMPLETIONS.iter().find(|row| is_called(row.0, name)) {
            return self.completion(operation, which, waits, arguments).map(Some);
        }
        if let Some(&(operation, waits, matched)) = PROBES.iter().find(|row| is_called(row.0, name)) {
            let incoming = self.incoming(arguments, "tag")?;
            let message = if matched { Some(self.request_name(arguments)?) } else { None };
            return Ok(Some(Call::Probe { operation, incoming, waits, message }));
        }
        if let Some(&(styles, protocol)) = SENDS.iter().find(|row| style(&row.0, name).is_some()) {
            let start = Start::Send(self.outgoing(arguments, protocol)?);
            return self.styled(&styles, name, start, arguments);
        }
        if style(&RECEIVES, name).is_some() {
            let start = Start::Receive(self.incoming(arguments, "tag")?);
            return self.styled(&RECEIVES, name, start, arguments);
        }
        if let Some(&(styles, shape, data)) = COLLECTIVES.iter().find(|row| style(&row.0, name).is_some()) {
            let operation = styles[style(&styles, name).unwrap_or(Style::Blocking) as usize];
            let start = Start::Collective(self.collective(operation, shape, data, arguments)?);
            return self.styled(&styles, name, start, arguments);
        }
        self.other_call(name, arguments)
    }

    fn other_call(&mut self, name: &str, arguments: &mut Arguments<'_>) -> Result<Option<Call>, String> {
        Ok(Some(match name {
            "sendrecv" => Call::Blocking(Operation::Sendrecv, self.exchange(arguments)?),
            "sendrecv_replace" => Call::Blocking(Operation::Sendrecv_replace, self.exchange(arguments)?),
            "mrecv" => Call::Blocking(Operation::Mrecv, self.matched(arguments)?),
            "imrecv" => {
                let start = self.matched(arguments)?;
                Call::Nonblocking(Operation::Imrecv, start, self.request_name(arguments)?)
            }
            "start" => Call::Start(Operation::Start, vec![self.first_name(arguments)?]),
            "startall" => Call::Start(Operation::Startall, self.all_names(arguments)?),
            "request_free" => Call::Free(self.first_name(arguments)?),
            "win_create" | "fence" | "win_free" | "put" | "get" => self.one_sided(name, arguments)?,
            _ => return self.epoch(name, arguments),
        }))
    }

    fn styled(
        &self,
        styles: &Styles,
        name: &str,
        start: Start,
        arguments: &mut Arguments<'_>,
    ) -> Result<Option<Call>, String> {
        let Some(style) = style(styles, name) else { return Ok(None) };
        let operation = styles[style as usize];
        Ok(Some(match style {
            Style::Blocking => Call::Blocking(operation, start),
            Style::Nonblocking => Call::Nonblocking(operation, start, self.request_name(arguments)?),
            Style::Persistent => Call::Prepare(operation, start, self.request_name(arguments)?),
        }))
    }

    fn completion(
        &self,
        operation: Operation,
        which: Which,
        waits: bool,
        arguments: &mut Arguments<'_>,
    ) -> Result<Call, String> {
        let names = match which {
            Which::One => Some(vec![self.first_name(arguments)?]),
            _ if arguments.plain.is_empty() => None,
            _ => Some(self.all_names(arguments)?),
        };
        Ok(Call::Complete { operation, which, waits, names })
    }

    fn outgoing(&self, arguments: &mut Arguments<'_>, protocol: Protocol) -> Result<Outgoing, String> {
        let comm = self.comm(arguments.value("on"))?;
        let dest = match arguments.value("to").or_else(|| arguments.first()) {
            Some("any") => return Err("a message goes to one rank".to_owned()),
            dest => self.peer(need(dest, "to whom")?, comm)?,
        };
        let tag = self.tag(arguments.value("tag"))?;
        let bytes = self.bytes(arguments.value("bytes"))?;
        Ok(Outgoing { dest, tag, bytes, comm, protocol })
    }

    fn incoming(&self, arguments: &mut Arguments<'_>, key: &str) -> Result<Incoming, String> {
        let comm = self.comm(arguments.value("on"))?;
        let source = arguments.value("from").or_else(|| arguments.first());
        let source = self.peer(need(source, "from whom")?, comm)?;
        let tag = match arguments.value(key) {
            Some("any") => None,
            tag => Some(self.tag(tag)?),
        };
        Ok(Incoming { source, tag, comm })
    }

    fn exchange(&self, arguments: &mut Arguments<'_>) -> Result<Start, String> {
        let on = arguments.value("on");
        arguments.keyed.extend(on.map(|name| ("on", name)));
        let outgoing = self.outgoing(arguments, Protocol::Standard)?;
        arguments.keyed.extend(on.map(|name| ("on", name)));
        let same = arguments.keyed.iter().all(|&(key, _)| key != "recvtag");
        let mut incoming = self.incoming(arguments, "recvtag")?;
        if same {
            incoming.tag = Some(outgoing.tag);
        }
        Ok(Start::Exchange(outgoing, incoming))
    }

    fn matched(&self, arguments: &mut Arguments<'_>) -> Result<Start, String> {
        Ok(Start::Matched(self.first_name(arguments)?))
    }

    fn collective(
        &self,
        operation: Operation,
        shape: Shape,
        data: Data,
        arguments: &mut Arguments<'_>,
    ) -> Result<Collective, String> {
        let comm = self.comm(arguments.value("on"))?;
        let root = match arguments.value("root") {
            Some(_) if matches!(shape, Shape::All | Shape::Prefix | Shape::Neighbours) => {
                return Err("it has no root".to_owned());
            }
            Some(root) => match self.peer(root, comm)? {
                Peer::Rank(root) => root,
                _ => return Err("the root is one rank".to_owned()),
            },
            None => 0,
        };
        let bytes = arguments.value("bytes").or_else(|| if data == Data::None { None } else { arguments.first() });
        let bytes = if data == Data::None { 0 } else { self.bytes(bytes)? };
        Ok(Collective { operation, shape, data, root, bytes, on: On::Comm(comm) })
    }

    fn epoch(&self, name: &str, arguments: &mut Arguments<'_>) -> Result<Option<Call>, String> {
        let Some(&(operation, does)) = EPOCHS.iter().find(|row| is_called(row.0, name)) else { return Ok(None) };
        let locks = matches!(does, EpochStep::Lock { .. } | EpochStep::Unlock);
        let window = if locks { arguments.value("on") } else { arguments.first() };
        let window = self.name(need(window, "a window")?)?;
        let comm = *self.windows.get(&window).ok_or_else(|| format!("there is no window `{window}`"))?;
        let mut plain = std::mem::take(&mut arguments.plain);
        let shared = operation == Operation::Win_lock && plain.last() == Some(&"shared") && plain.pop().is_some();
        let does = if shared { EpochStep::Lock { exclusive: false } } else { does };
        let mut ranks = Vec::new();
        for text in plain {
            match self.peer(text, comm)? {
                Peer::Rank(rank) => ranks.push(rank),
                _ => return Err("an epoch has ranks".to_owned()),
            }
        }
        match operation {
            Operation::Win_lock | Operation::Win_unlock if ranks.len() != 1 => {
                return Err("it has one target".to_owned());
            }
            Operation::Win_lock_all | Operation::Win_unlock_all => {
                ranks = (0..self.script.comms[comm].group.len() as u32).collect();
            }
            Operation::Win_complete | Operation::Win_wait if !ranks.is_empty() => {
                return Err("its group is that of the epoch".to_owned());
            }
            _ => {}
        }
        Ok(Some(Call::Blocking(operation, Start::Epoch(Epoch { does, window, ranks }))))
    }

    fn one_sided(&mut self, name: &str, arguments: &mut Arguments<'_>) -> Result<Call, String> {
        let meeting = |operation, on| {
            let (shape, data) = (Shape::All, Data::None);
            Call::Blocking(operation, Start::Collective(Collective { operation, shape, data, root: 0, bytes: 0, on }))
        };
        if name == "win_create" {
            let comm = self.comm(arguments.value("on"))?;
            let window = self.request_name(arguments)?;
            self.windows.insert(window.clone(), comm);
            return Ok(meeting(Operation::Win_create, On::NewWindow(comm, window)));
        }
        let accesses = matches!(name, "put" | "get");
        let window = if accesses { arguments.value("on") } else { arguments.first() };
        let window = self.name(need(window, "a window")?)?;
        let comm = *self.windows.get(&window).ok_or_else(|| format!("there is no window `{window}`"))?;
        if !accesses {
            let last = name == "win_free";
            let operation = if last { Operation::Win_free } else { Operation::Win_fence };
            return Ok(meeting(operation, On::Window(window, last)));
        }
        let Peer::Rank(target) = self.peer(need(arguments.first(), "a target")?, comm)? else {
            return Err("the target is one rank".to_owned());
        };
        let operation = if name == "put" { Operation::Put } else { Operation::Get };
        Ok(Call::Access { operation, window, target, bytes: self.bytes(arguments.value("bytes"))? })
    }

    fn comm(&self, name: Option<&str>) -> Result<usize, String> {
        let name = name.unwrap_or("world");
        let found = self.script.comms.iter().position(|comm| comm.name == name && comm.group.contains(&self.rank));
        found.ok_or_else(|| format!("rank {} is in no communicator `{name}`", self.rank))
    }

    fn peer(&self, text: &str, comm: usize) -> Result<Peer, String> {
        match text {
            "any" => return Ok(Peer::Any),
            "null" => return Ok(Peer::Null),
            _ => {}
        }
        let rank = whole(text, &self.names)?;
        let size = self.script.comms[comm].group.len();
        match u32::try_from(rank) {
            Ok(rank) if (rank as usize) < size => Ok(Peer::Rank(rank)),
            _ => Err(format!("`{text}` is {rank}, but the communicator has {size} ranks")),
        }
    }

    fn tag(&self, text: Option<&str>) -> Result<i32, String> {
        let tag = text.map_or(Ok(0), |text| whole(text, &self.names))?;
        i32::try_from(tag).map_err(|_| format!("{tag} is too large for a tag"))
    }

    fn bytes(&self, text: Option<&str>) -> Result<u64, String> {
        text.map_or(Ok(BYTES), |text| whole(text, &self.names))
    }

    /// A request's or window's name: a word, maybe followed by an expression that begins with `$`, as in `left$i`.
    fn name(&self, text: &str) -> Result<String, String> {
        let (word, number) = text.split_at(text.find('$').unwrap_or(text.len()));
        if !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Err(format!("`{text}` is no name"));
        }
        Ok(if number.is_empty() { word.to_owned() } else { format!("{word}{}", whole(number, &self.names)?) })
    }

    fn request_name(&self, arguments: &mut Arguments<'_>) -> Result<String, String> {
        self.name(need(arguments.value("as"), "`as` and a name")?)
    }

    fn first_name(&self, arguments: &mut Arguments<'_>) -> Result<String, String> {
        self.name(need(arguments.first(), "the name of a request")?)
    }

    fn all_names(&self, arguments: &mut Arguments<'_>) -> Result<Vec<String>, String> {
        let names = std::mem::take(&mut arguments.plain);
        names.into_iter().map(|name| self.name(name)).collect()
    }
}

fn region(text: &str, iterated: bool) -> Result<Action, String> {
    let mut words = text.split_whitespace();
    let name = need(words.next(), "the region's name")?.to_owned();
    let kind = match words.next() {
        None | Some("useful") => RegionKind::Useful,
        Some("control") => RegionKind::Control,
        Some("serial") => RegionKind::Serial,
        Some(other) => return Err(format!("`{other}` is no kind of region: useful, control, serial")),
    };
    match words.next() {
        None => Ok(Action::Enter { name, kind, iterated }),
        Some(more) => Err(format!("`{more}` is not expected")),
    }
}
