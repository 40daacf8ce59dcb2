// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Places of the columns in each table of events. proto/schema.h describes the tables.

#pragma once

namespace gpuprof::proto {

// Row layouts. Every table begins with the time (the END for spans).
namespace heap_column {
enum : int {
  kTime,
  kOperation,
  kAddress,
  kSize,
  kStack
};  // operation: HeapOperation(); size 0 and stack 0 for frees
}
namespace wait_column {
enum : int {
  kEnd,
  kDuration,
  kOperation,
  kObject,
  kCaller,
  kStack,
  kOwner
};  // operation: kind | flags << 8; owner: thread that held the lock, 0: not known
}
namespace op_column {
enum : int {
  kEnd,
  kDuration,
  kName,
  kOperation,
  kSequence  // autograd's number of the op plus 1; 0: none
};           // name: string id; operation: scope | flags << 8 | depth << 16
}
namespace tensor_column {
enum : int { kTime, kDevice, kAddress, kBytes, kTotalAllocated, kTotalReserved };
}
namespace thread_column {
enum : int { kTime, kEvent, kA, kB };
}
namespace process_column {
enum : int { kTime, kEvent, kA, kB, kText };  // text: string id
}

namespace kernel_column {
enum : int { kEnd, kDuration, kSignature, kCorrelation, kGraph, kGraphNode };
}
namespace memcpy_column {
enum : int {
  kEnd,
  kDuration,
  kOperation,  // CopyOperation()
  kCorrelation,
  kBytes,
  kGraph,
  kGraphNode,
  kPeer  // device copied from, and << 32 to, each plus 1; 0: within one
};
}
namespace memset_column {
enum : int { kEnd, kDuration, kOperation, kCorrelation, kBytes, kGraph, kGraphNode, kValue };
}
namespace api_column {
enum : int { kEnd, kDuration, kFunction, kCorrelation, kResult };  // function: ApiFunction()
}
namespace sync_column {
enum : int {
  kEnd,
  kDuration,
  kOperation,
  kCorrelation,
  kStream,
  kEvent,
  kResult,
  kEventRecord  // the recording waited for, as cuda_event has it; 0: not known
};
}
namespace device_memory_column {
enum : int {
  kTime,
  kOperation,  // MemoryOperation()
  kAddress,
  kBytes,  // of a release too, where CUPTI tells them
  kCorrelation,
  kPool,   // address of the pool; 0: none
  kPc,     // where in the program; 0: not known
  kOrigin  // string id: of a static variable its name, else the library that asked; 0: not known
};
}
namespace memory_pool_column {
enum : int {
  kTime,
  kOperation,   // PoolOperation()
  kPool,        // its address
  kSize,        // taken from the device
  kUtilized,    // handed out
  kThreshold,   // unused memory that the pool keeps
  kKept,        // of a trim: the least to keep
  kCorrelation  // of a creation, destruction or trim
};
}
namespace graph_launch_column {
enum : int { kEnd, kDuration, kGraph, kCorrelation };
}
namespace overhead_column {
enum : int { kEnd, kDuration, kOperation, kCorrelation, kBytes };
}
namespace cuda_event_column {
enum : int {
  kTime,  // when the call began
  kCorrelation,
  kEvent,  // as in sync
  kRecord  // this recording alone (CUPTI's cudaEventSyncId); 0: not known
};
}
namespace unified_memory_column {
enum : int {
  kEnd,
  kDuration,
  kOperation,  // UnifiedMemoryOperation()
  kValue,      // bytes; of page faults the host's program counter, the GPU's count
  kAddress,
  kSource,  // of a processor or device, as far as the counter has one; of thrashing a bit each
  kDestination
};
}
namespace mapping_column {
enum : int { kTime, kOperation, kAddress, kSize, kStack };  // operation: MapEvent | flags << 8
}

namespace launch_column {
enum : int { kTime, kCorrelation, kFunction, kStack };  // function: ApiFunction()
}

namespace range_column {
enum : int {
  kEnd,
  kDuration,
  kName,       // string id
  kOperation,  // RangeKind | NvtxPayload << 4 | flags << 8 | depth << 16
  kDomain,     // string id; 0: the default domain
  kStyle,      // category | colour (ARGB) << 32
  kPayload,
  kBeginThread  // tid, where it is not the track's; else 0
};
}

// A payload is a first row, then a row for each 8 of its bytes. Operation, domain and definition of
// the further rows are 0.
namespace range_payload_column {
enum : int {
  kTime,        // when the range begins, or ends
  kOperation,   // PayloadOperation() | depth << 16
  kDomain,      // string id; 0: the default domain
  kDefinition,  // predefined type, or string id of the definition (proto/nvtx_payload.h)
  kValue        // the payload's bytes in all; of the other rows 8 of them
};
}

namespace python_column {
enum : int {
  kEnd,
  kDuration,
  kName,      // string id
  kParent,    // row of the calling function in this table, plus 1; 0: none
  kStack,     // the function's own frame is the innermost
  kInner,     // the part of the duration in which functions that it called ran
  kOperation  // flags << 8 | depth << 16, of calls that gpuprof recorded: the rest but kName is 0
};
}

// A row has further values of a row of another table on the same track. Rows are counted from 0,
// in the order of the file.
namespace row_detail_column {
enum : int {
  kTime,      // of the process's first event: a block has a time
  kTable,     // ChunkKind
  kRow,       // its number in the table
  kExternal,  // the id by which GPU work and calls name their operation; 0: none
  kDetail,    // string id: a JSON object; 0: none
  kSequence   // autograd's number of the operation, plus 1; 0: none
};
}

namespace counter_column {
enum : int { kTime, kCounter, kValue };  // counter: id of Counters; value: signed, in its unit
}

}  // namespace gpuprof::proto
