//! Finds the frame of a function's caller by the tables for unwinding at one instruction.

use std::collections::HashMap;
use std::ops::Range;

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, Expression, LittleEndian, Operation, Register,
    RegisterRule, UnwindContext, UnwindContextStorage, UnwindExpression, UnwindSection, UnwindTableRow,
};

use super::objects::{UnwindObject, object_at};
use crate::machine::processor::{FRAME_POINTER, RETURN_ADDRESS, STACK_POINTER, UNWINDING_VENDOR};
use crate::machine::system::loader::objects;

/// The base of a location. A frame's CFA (canonical frame address) is its caller's stack pointer after the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleBase {
    StackPointer,
    FramePointer,
    Cfa,
}

/// An address: an offset in bytes from a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleLocation {
    pub base: RuleBase,
    pub offset: i32,
}

/// The place of the caller's frame pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavedRegister {
    /// The frame has not changed it.
    No,
    /// The register is saved there.
    In(RuleLocation),
    /// The tables do not say, or in a way that is not known here.
    Unknown,
}

/// The rule by which the caller's frame is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnwindRule {
    pub cfa: RuleLocation,
    /// True if the CFA is not that address itself but the word there.
    pub cfa_is_there: bool,
    /// Location of the return address, or `None` if this frame has no caller.
    pub caller: Option<RuleLocation>,
    pub bp: SavedRegister,
    /// True if the frame is one that the system makes when it calls a signal's handler.
    pub is_signal: bool,
}

/// The rules of instructions, each looked up once.
#[derive(Default)]
pub struct RuleCache {
    known: HashMap<usize, Option<UnwindRule>, foldhash::fast::FixedState>,
    /// Addresses of the C library and the program's start, once looked for.
    start: Option<[Range<usize>; 2]>,
}

/// More are not kept.
const MAX_RULES: usize = 16_384;

impl RuleCache {
    /// Returns the rule at an instruction, or `None` if there is none that this module understands.
    pub fn rule_at(&mut self, pc: usize) -> Option<UnwindRule> {
        if let Some(&rule) = self.known.get(&pc) {
            return rule;
        }
        let rule = object_at(pc).and_then(|object| look_up(&object, pc));
        if self.known.len() >= MAX_RULES {
            self.known.clear();
        }
        self.known.insert(pc, rule);
        rule
    }

    /// Returns whether an address lies in the C library, which calls main and the functions of threads, or in the program's start, which calls it.
    pub fn is_start(&mut self, address: usize) -> bool {
        let start = self.start.get_or_insert_with(|| {
            // SAFETY: a plain query.
            let entry = unsafe { libc::getauxval(libc::AT_ENTRY) } as usize;
            // `_start` calls its only function at once.
            const START_BYTES: usize = 64;
            [objects::bounds_at(libc::abort as *const () as usize), entry..entry + START_BYTES]
        });
        start.iter().any(|addresses| addresses.contains(&address))
    }
}

type Tables = EndianSlice<'static, LittleEndian>;

/// Room for the rules of one function: on x86-64 six registers are kept, and all seventeen where a signal has come; on Arm twelve, and eight for
/// floating point.
struct RuleStorage;

impl UnwindContextStorage<usize> for RuleStorage {
    type Rules = [(Register, RegisterRule<usize>); 24];
    type Stack = [UnwindTableRow<usize, Self>; 4];
}

fn look_up(object: &UnwindObject, pc: usize) -> Option<UnwindRule> {
    let header_at = object.header.as_ptr() as u64;
    let bases = BaseAddresses::default().set_eh_frame_hdr(header_at);
    let header = EhFrameHdr::new(object.header, LittleEndian).parse(&bases, 8).ok()?;
    let tables_at = header.eh_frame_ptr().direct().ok()? as usize;
    if !(object.begin..object.tables_end).contains(&tables_at) {
        return None;
    }
    // SAFETY: a part of a loaded read-only segment.
    let tables = unsafe { std::slice::from_raw_parts(tables_at as *const u8, object.tables_end - tables_at) };
    let (mut tables, bases) = (EhFrame::new(tables, LittleEndian), bases.set_eh_frame(tables_at as u64));
    tables.set_vendor(UNWINDING_VENDOR);
    let function = header.table()?.fde_for_address(&tables, &bases, pc as u64, EhFrame::cie_from_offset).ok()?;
    let mut context = Box::new(UnwindContext::<usize, RuleStorage>::new_in());
    let row = function.unwind_info_for_address(&tables, &bases, &mut context, pc as u64).ok()?;
    rule_of_row(row, &tables, function.is_signal_trampoline(), function.cie().encoding())
}

fn rule_of_row(
    row: &UnwindTableRow<usize, RuleStorage>,
    tables: &EhFrame<Tables>,
    is_signal: bool,
    encoding: gimli::Encoding,
) -> Option<UnwindRule> {
    let (cfa, cfa_is_there) = match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => (location_from_register(*register, *offset)?, false),
        CfaRule::Expression(expression) => location_of_expression(expression, tables, encoding)?,
    };
    let [return_address, bp] = [RETURN_ADDRESS, FRAME_POINTER].map(|register| match row.register(register) {
        None | Some(RegisterRule::SameValue) => SavedRegister::No,
        Some(RegisterRule::Offset(offset)) => i32::try_from(offset)
            .map_or(SavedRegister::Unknown, |offset| SavedRegister::In(RuleLocation { base: RuleBase::Cfa, offset })),
        Some(RegisterRule::Expression(expression)) => match location_of_expression(&expression, tables, encoding) {
            Some((location, false)) => SavedRegister::In(location),
            _ => SavedRegister::Unknown,
        },
        Some(_) => SavedRegister::Unknown,
    });
    let caller = match (row.register(RETURN_ADDRESS), return_address) {
        (Some(RegisterRule::Undefined), _) => None,
        (_, SavedRegister::In(location)) => Some(location),
        _ => return None,
    };
    Some(UnwindRule { cfa, cfa_is_there, caller, bp, is_signal })
}

fn location_from_register(register: Register, offset: i64) -> Option<RuleLocation> {
    let base = match register {
        STACK_POINTER => RuleBase::StackPointer,
        FRAME_POINTER => RuleBase::FramePointer,
        _ => return None,
    };
    Some(RuleLocation { base, offset: i32::try_from(offset).ok()? })
}

/// Returns the address that an expression stands for, and whether the word there counts instead. Compilers write a register and an
/// offset, in functions that align their stack and in frames of signals.
fn location_of_expression(
    expression: &UnwindExpression<usize>,
    tables: &EhFrame<Tables>,
    encoding: gimli::Encoding,
) -> Option<(RuleLocation, bool)> {
    let expression: Expression<Tables> = expression.get(tables).ok()?;
    let mut operations = expression.operations(encoding);
    let first = match operations.next().ok()?? {
        Operation::RegisterOffset { register, offset, .. } => location_from_register(register, offset)?,
        _ => return None,
    };
    match operations.next().ok()? {
        None => Some((first, false)),
        Some(Operation::Deref { size: 8, .. }) => operations.next().ok()?.is_none().then_some((first, true)),
        Some(_) => None,
    }
}
