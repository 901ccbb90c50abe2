# Phase markers for MPI programs in Julia: include("lbprof.jl"); using .LBProf
#
#     for step in 1:n
#         iteration("step") do
#             phase("force") do
#                 work(20.0 * pairs, pairs)
#             end
#         end
#     end
#
# They do nothing if the program is not recorded by lbprof. Julia's MPI.jl looks its functions up in the MPI library itself, where no preloaded
# library sees them: of a program that calls MPI through MPI.jl alone nothing is recorded (docs/supported.md), so the markers are for programs whose
# MPI calls are made in C, C++ or Fortran libraries.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
module LBProf

import Libdl

export phase, iteration, phase_begin, phase_end, iteration_begin, iteration_end, work, count_value, param, record, recorded
export USEFUL, CONTROL, SERIAL

"What a phase's time is: useful work (the default), control of parallelism, work that only one rank can do."
const USEFUL, CONTROL, SERIAL = Cint(0), Cint(1), Cint(2)

# struct lbprof_api of lbprof.h
struct Functions
    size::Csize_t
    phase_begin::Ptr{Cvoid}
    phase_end::Ptr{Cvoid}
    iteration_begin::Ptr{Cvoid}
    iteration_end::Ptr{Cvoid}
    work::Ptr{Cvoid}
    count::Ptr{Cvoid}
    param::Ptr{Cvoid}
    record::Ptr{Cvoid}
end

const functions = Ref{Union{Nothing, Functions}}(nothing)

function __init__()
    process = Libdl.dlopen("", throw_error = false)
    entry = process === nothing ? nothing : Libdl.dlsym(process, :lbprof_api, throw_error = false)
    entry === nothing && return
    found = ccall(entry, Ptr{Functions}, (Cint,), 1)
    found == C_NULL || (functions[] = unsafe_load(found))
end

"Returns whether the program runs under the recorder."
recorded() = functions[] !== nothing

phase_begin(name, kind = USEFUL) = recorded() && ccall(functions[].phase_begin, Cvoid, (Cstring, Cint), name, kind)
phase_end(name) = recorded() && ccall(functions[].phase_end, Cvoid, (Cstring,), name)
iteration_begin(name) = recorded() && ccall(functions[].iteration_begin, Cvoid, (Cstring,), name)
iteration_end(name) = recorded() && ccall(functions[].iteration_end, Cvoid, (Cstring,), name)

"Runs a function as a phase, which ends with it, also by an exception."
function phase(body, name, kind = USEFUL)
    phase_begin(name, kind)
    try
        body()
    finally
        phase_end(name)
    end
end

"Runs a function as the next iteration of a loop."
function iteration(body, name)
    iteration_begin(name)
    try
        body()
    finally
        iteration_end(name)
    end
end

"Adds work done in the innermost open phase: operations, and the quanta of data that they worked on."
work(operations, quanta) = recorded() && ccall(functions[].work, Cvoid, (Cdouble, Cdouble), operations, quanta)
"Adds a value of a counter in the innermost open phase."
count_value(name, value) = recorded() && ccall(functions[].count, Cvoid, (Cstring, Cdouble), name, value)
"States a parameter of the run."
param(name, value) = recorded() && ccall(functions[].param, Cvoid, (Cstring, Cdouble), name, value)
"Stops or resumes recording of this thread."
record(on::Bool) = recorded() && ccall(functions[].record, Cvoid, (Cint,), on)

end
