// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What truly happened on the simulated device, for tests that compare a profile with it.
//
// FAKE_GPU_TRUTH=PATH names the file; "%p" in it becomes the process id, and a process that finds
// the file there already writes PATH.<pid>. One JSON object a line. The file is a shared mapping,
// so that a killed process leaves what it wrote. It ends in zero bytes, and there are some in
// between where a thread died writing: split at them, and take of each part the lines that end.
// Times are nanoseconds of CLOCK_MONOTONIC. Work of the device is written when it is enqueued with
// the times that it will have: who kills the process drops what ends later.
//
//   {"t":"process","pid":..,"realtime_offset":..}   first line; realtime = monotonic + offset then
//   {"t":"api","call":..,"domain":"runtime|driver","name":..,"cbid":..,"tid":..,"correlation":..,
//    "depth":..,"start":..,"end":..,"result":..}
//   {"t":"kernel","name":..,"device":..,"context":..,"stream":..,"grid":[..],"block":[..],
//    "static_smem":..,"dynamic_smem":..,"registers":..,"correlation":..,"call":..,"tid":..,"start":..,
//    "end":..,"graph":..,"node":..}                  graph and node are 0 outside a graph
//   {"t":"copy","kind":"htod|dtoh|dtod|htoh|ptop","bytes":..,"src":..,"dst":..,"async":.., + as
//   kernel}
//   {"t":"set","bytes":..,"value":.., + as kernel}
//   {"t":"host_function", + as kernel}
//   {"t":"sync","type":"stream|context|event|wait","stream":..,"context":..,"event":..,"start":..,
//    "end":..,"correlation":..,"tid":..}
//   {"t":"event_record","event":..,"sync_id":..,"stream":..,"context":..,"time":..,"correlation":..}
//   {"t":"um","counter":..,"value":..,"address":..,"source":..,"destination":..,"flags":..,"start":..,
//    "end":..}                                       of managed memory, with CUPTI's numbers
//   {"t":"um_configured","count":..,"result":..}     the tool configured this many of its counters
//   {"t":"alloc|free","space":"device|pinned|managed|pool","address":..,"bytes":..,"pool":..,
//    "stream":..,"correlation":..,"tid":..,"time":..}
//   {"t":"end","space":..,"address":..,"bytes":..,"device":..,"context":..,"time":..}
//                                     it went with its context
//   {"t":"pool","op":"create|destroy|trim","address":..,"size":..,"correlation":..}
//   {"t":"context|stream","op":"create|destroy","id":..,"context":..,"device":..}
//   {"t":"graph_launch","graph":..,"nodes":..,"stream":..,"correlation":..,"tid":..,"start":..,"end":..}
//   {"t":"module","id":..,"bytes":..}
//   {"t":"tool","subscribed":0|1,"wants":..,"time":..}   CUPTI is asked for something from then on;
//                                     wants is 0 where nothing is enabled
//   {"t":"subscriber","version":..}   somebody subscribed, to a libcupti of this cuptiGetVersion
//   {"t":"kind","kind":..,"enabled":0|1,"time":..}   a kind of record is wanted, or not, from then
//   on
//   {"t":"drop","kind":..}            a record that the CUPTI double dropped and counted
//   {"t":"lost_times","correlation":..}   a record delivered with start and end 0
//   {"t":"played","kind":..,"records":..}   of a recording that is handed out, by kind
//   {"t":"abandoned","records":..}    what was in a buffer when cuptiFinalize was called
//   {"t":"violation","what":..}       the tool did what the real CUPTI forbids
//   {"t":"after_exit","what":..}      a function of CUPTI was called after the driver's handler of
//                                     exit() had run
//   {"t":"exit"}                      an orderly end

#pragma once

#include <cstdint>

namespace fake_gpu {

// Whether FAKE_GPU_TRUTH asks for the file. Cheap.
bool TruthWanted();

// Appends one line, given without its end. From any thread; formats on the caller's stack.
void TruthLine(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace fake_gpu
