// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Made by scripts/make-schema.mjs of `gpuprof schema --json`. Do not edit.

export const FORMAT = "1.3";

/** Tables of rows. */
export const TABLES = {
  "heap": {
    "kind": 32,
    "clock": "ticks",
    "columns": [
      {
        "name": "time",
        "encoding": "time"
      },
      {
        "name": "operation",
        "encoding": "plain"
      },
      {
        "name": "address",
        "encoding": "address"
      },
      {
        "name": "size",
        "encoding": "plain"
      },
      {
        "name": "stack",
        "encoding": "plain"
      }
    ]
  },
  "wait": {
    "kind": 33,
    "clock": "ticks",
    "columns": [
      {
        "name": "end",
        "encoding": "time",
        "type": "time"
      },
      {
        "name": "duration",
        "encoding": "span",
        "type": "duration"
      },
      {
        "name": "operation",
        "encoding": "plain",
        "type": "bits",
        "fields": [
          {
            "name": "kind",
            "first_bit": 0,
            "bits": 8,
            "type": "enum",
            "values": {
              "1": "mutex",
              "2": "rwlock_read",
              "3": "rwlock_write",
              "4": "condition",
              "5": "semaphore",
              "6": "barrier",
              "7": "join",
              "8": "sleep",
              "9": "input",
              "10": "events",
              "11": "child",
              "12": "futex",
              "13": "gil"
            }
          },
          {
            "name": "limited",
            "first_bit": 14,
            "bits": 1,
            "type": "flag"
          },
          {
            "name": "flags",
            "first_bit": 8,
            "bits": 6,
            "type": "flags",
            "values": {
              "1": "sampled",
              "2": "has_stack",
              "4": "coarse_time",
              "8": "timed_out",
              "16": "incomplete",
              "32": "no_unwinder",
              "64": "file",
              "128": "no_access"
            }
          }
        ]
      },
      {
        "name": "object",
        "encoding": "address",
        "type": "address"
      },
      {
        "name": "caller",
        "encoding": "delta",
        "type": "pc"
      },
      {
        "name": "stack",
        "encoding": "plain",
        "type": "stack"
      },
      {
        "name": "owner",
        "encoding": "plain",
        "type": "thread"
      }
    ]
  },
  "op": {
    "kind": 34,
    "clock": "ticks",
    "columns": [
      {
        "name": "end",
        "encoding": "time",
        "type": "time"
      },
      {
        "name": "duration",
        "encoding": "span",
        "type": "duration"
      },
      {
        "name": "name",
        "encoding": "plain",
        "type": "string"
      },
      {
        "name": "operation",
        "encoding": "plain",
        "type": "bits",
        "fields": [
          {
            "name": "scope",
            "first_bit": 0,
            "bits": 8,
            "type": "enum",
            "values": {
              "0": "function",
              "1": "backward",
              "2": "torchscript",
              "7": "user"
            }
          },
          {
            "name": "flags",
            "first_bit": 8,
            "bits": 8,
            "type": "flags",
            "values": {
              "1": "sampled",
              "2": "has_stack",
              "4": "coarse_time",
              "8": "timed_out",
              "16": "incomplete",
              "32": "no_unwinder",
              "64": "file",
              "128": "no_access"
            }
          },
          {
            "name": "depth",
            "first_bit": 16,
            "bits": 16,
            "type": "depth"
          }
        ]
      }
    ]
  },
  "tensor": {
    "kind": 35,
    "clock": "ticks",
    "columns": [
      {
        "name": "time",
        "encoding": "time"
      },
      {
        "name": "device",
        "encoding": "plain"
      },
      {
        "name": "address",
        "encoding": "address"
      },
      {
        "name": "bytes",
        "encoding": "plain"
      },
      {
        "name": "total_allocated",
        "encoding": "delta"
      },
      {
        "name": "total_reserved",
        "encoding": "delta"
      }
    ]
  },
  "thread": {
    "kind": 36,
    "clock": "ticks",
    "columns": [
      {
        "name": "time",
        "encoding": "time"
      },
      {
        "name": "event",
        "encoding": "plain"
      },
      {
        "name": "a",
        "encoding": "plain"
      },
      {
        "name": "b",
        "encoding": "plain"
      }
    ]
  },
  "process": {
    "kind": 37,
    "clock": "ticks",
    "columns": [
      {
        "name": "time",
        "encoding": "time"
      },
      {
        "name": "event",
        "encoding": "plain"
      },
      {
        "name": "a",
        "encoding": "plain"
      },
      {
        "name": "b",
        "encoding": "plain"
      },
      {
        "name": "text",
        "encoding": "plain"
      }
    ]
  },
  "mapping": {
    "kind": 38,
    "clock": "ticks",
    "columns": [
      {
        "name": "time",
        "encoding": "time"
      },
      {
        "name": "operation",
        "encoding": "plain"
      },
      {
        "name": "address",
        "encoding": "address"
      },
      {
        "name": "size",
        "encoding": "plain"
      },
      {
        "name": "stack",
        "encoding": "plain"
      }
    ]
  },
  "range": {
    "kind": 39,
    "clock": "ticks",
    "columns": [
      {
        "name": "end",
        "encoding": "time",
        "type": "time"
      },
      {
        "name": "duration",
        "encoding": "span",
        "type": "duration"
      },
      {
        "name": "name",
        "encoding": "plain",
        "type": "string"
      },
      {
        "name": "operation",
        "encoding": "plain",
        "type": "bits",
        "fields": [
          {
            "name": "kind",
            "first_bit": 0,
            "bits": 4,
            "type": "enum",
            "values": {
              "1": "push_pop",
              "2": "start_end",
              "3": "mark",
              "4": "name_thread",
              "5": "name_category",
              "6": "name_device",
              "7": "name_context",
              "8": "name_stream",
              "9": "name_event"
            }
          },
          {
            "name": "payload_type",
            "first_bit": 4,
            "bits": 4,
            "type": "enum",
            "values": {
              "0": "none",
              "1": "uint64",
              "2": "int64",
              "3": "double",
              "4": "uint32",
              "5": "int32",
              "6": "float"
            }
          },
          {
            "name": "flags",
            "first_bit": 8,
            "bits": 8,
            "type": "flags",
            "values": {
              "1": "sampled",
              "2": "has_stack",
              "4": "coarse_time",
              "8": "timed_out",
              "16": "incomplete",
              "32": "no_unwinder",
              "64": "file",
              "128": "no_access"
            }
          },
          {
            "name": "depth",
            "first_bit": 16,
            "bits": 16,
            "type": "depth"
          }
        ]
      },
      {
        "name": "domain",
        "encoding": "plain",
        "type": "string"
      },
      {
        "name": "style",
        "encoding": "plain",
        "type": "bits",
        "fields": [
          {
            "name": "category",
            "first_bit": 0,
            "bits": 32,
            "type": "number"
          },
          {
            "name": "color",
            "first_bit": 32,
            "bits": 32,
            "type": "color"
          }
        ]
      },
      {
        "name": "payload",
        "encoding": "plain",
        "type": "number"
      },
      {
        "name": "begin_thread",
        "encoding": "plain",
        "type": "thread"
      }
    ]
  },
  "range_payload": {
    "kind": 40,
    "clock": "ticks",
    "columns": [
      {
        "name": "time",
        "encoding": "time"
      },
      {
        "name": "operation",
        "encoding": "plain"
      },
      {
        "name": "domain",
        "encoding": "plain"
      },
      {
        "name": "definition",
        "encoding": "plain"
      },
      {
        "name": "value",
        "encoding": "plain"
      }
    ]
  },
  "launch": {
    "kind": 41,
    "clock": "ticks",
    "columns": [
      {
        "name": "time",
        "encoding": "time"
      },
      {
        "name": "correlation",
        "encoding": "delta"
      },
      {
        "name": "function",
        "encoding": "plain"
      },
      {
        "name": "stack",
        "encoding": "plain"
      }
    ]
  },
  "file_read": {
    "kind": 42,
    "clock": "ticks",
    "columns": [
      {
        "name": "end",
        "encoding": "time",
        "type": "time"
      },
      {
        "name": "duration",
        "encoding": "span",
        "type": "duration"
      },
      {
        "name": "path",
        "encoding": "plain",
        "type": "string"
      },
      {
        "name": "bytes",
        "encoding": "plain",
        "type": "signed_bytes"
      },
      {
        "name": "descriptor",
        "encoding": "plain",
        "type": "number"
      }
    ]
  },
  "counter": {
    "kind": 64,
    "clock": "ticks",
    "columns": [
      {
        "name": "time",
        "encoding": "time"
      },
      {
        "name": "counter",
        "encoding": "plain"
      },
      {
        "name": "value",
        "encoding": "plain"
      }
    ]
  },
  "python": {
    "kind": 65,
    "clock": "ticks",
    "columns": [
      {
        "name": "end",
        "encoding": "time",
        "type": "time"
      },
      {
        "name": "duration",
        "encoding": "span",
        "type": "duration"
      },
      {
        "name": "name",
        "encoding": "plain",
        "type": "string"
      },
      {
        "name": "parent",
        "encoding": "delta",
        "type": "number"
      },
      {
        "name": "stack",
        "encoding": "plain",
        "type": "stack"
      },
      {
        "name": "inner",
        "encoding": "plain",
        "type": "duration"
      }
    ]
  },
  "row_detail": {
    "kind": 66,
    "clock": "ticks",
    "columns": [
      {
        "name": "time",
        "encoding": "time"
      },
      {
        "name": "table",
        "encoding": "plain"
      },
      {
        "name": "row",
        "encoding": "delta"
      },
      {
        "name": "external",
        "encoding": "delta"
      },
      {
        "name": "detail",
        "encoding": "plain"
      },
      {
        "name": "sequence",
        "encoding": "delta"
      }
    ]
  },
  "kernel": {
    "kind": 80,
    "clock": "cupti",
    "columns": [
      {
        "name": "end",
        "encoding": "gap",
        "type": "time"
      },
      {
        "name": "duration",
        "encoding": "ticks",
        "type": "duration"
      },
      {
        "name": "signature",
        "encoding": "plain",
        "type": "signature"
      },
      {
        "name": "correlation",
        "encoding": "delta",
        "type": "correlation"
      },
      {
        "name": "graph",
        "encoding": "delta",
        "type": "graph"
      },
      {
        "name": "graph_node",
        "encoding": "delta",
        "type": "graph_node"
      }
    ]
  },
  "memcpy": {
    "kind": 81,
    "clock": "cupti",
    "columns": [
      {
        "name": "end",
        "encoding": "gap",
        "type": "time"
      },
      {
        "name": "duration",
        "encoding": "ticks",
        "type": "duration"
      },
      {
        "name": "operation",
        "encoding": "plain",
        "type": "bits",
        "fields": [
          {
            "name": "kind",
            "first_bit": 0,
            "bits": 8,
            "type": "enum",
            "values": {
              "0": "unknown",
              "1": "HtoD",
              "2": "DtoH",
              "3": "HtoA",
              "4": "AtoH",
              "5": "AtoA",
              "6": "AtoD",
              "7": "DtoA",
              "8": "DtoD",
              "9": "HtoH",
              "10": "PtoP"
            }
          },
          {
            "name": "source",
            "first_bit": 8,
            "bits": 8,
            "type": "enum",
            "values": {
              "0": "unknown",
              "1": "pageable",
              "2": "pinned",
              "3": "device",
              "4": "array",
              "5": "managed",
              "6": "device_static",
              "7": "managed_static"
            }
          },
          {
            "name": "destination",
            "first_bit": 16,
            "bits": 8,
            "type": "enum",
            "values": {
              "0": "unknown",
              "1": "pageable",
              "2": "pinned",
              "3": "device",
              "4": "array",
              "5": "managed",
              "6": "device_static",
              "7": "managed_static"
            }
          },
          {
            "name": "async",
            "first_bit": 24,
            "bits": 1,
            "type": "flag"
          }
        ]
      },
      {
        "name": "correlation",
        "encoding": "delta",
        "type": "correlation"
      },
      {
        "name": "bytes",
        "encoding": "keyed",
        "type": "bytes"
      },
      {
        "name": "graph",
        "encoding": "delta",
        "type": "graph"
      },
      {
        "name": "graph_node",
        "encoding": "delta",
        "type": "graph_node"
      },
      {
        "name": "peer",
        "encoding": "plain",
        "type": "bits",
        "fields": [
          {
            "name": "from_device",
            "first_bit": 0,
            "bits": 32,
            "type": "gpu"
          },
          {
            "name": "to_device",
            "first_bit": 32,
            "bits": 32,
            "type": "gpu"
          }
        ]
      }
    ]
  },
  "memset": {
    "kind": 82,
    "clock": "cupti",
    "columns": [
      {
        "name": "end",
        "encoding": "gap",
        "type": "time"
      },
      {
        "name": "duration",
        "encoding": "ticks",
        "type": "duration"
      },
      {
        "name": "operation",
        "encoding": "plain",
        "type": "bits",
        "fields": [
          {
            "name": "destination",
            "first_bit": 16,
            "bits": 8,
            "type": "enum",
            "values": {
              "0": "unknown",
              "1": "pageable",
              "2": "pinned",
              "3": "device",
              "4": "array",
              "5": "managed",
              "6": "device_static",
              "7": "managed_static"
            }
          },
          {
            "name": "async",
            "first_bit": 24,
            "bits": 1,
            "type": "flag"
          }
        ]
      },
      {
        "name": "correlation",
        "encoding": "delta",
        "type": "correlation"
      },
      {
        "name": "bytes",
        "encoding": "keyed",
        "type": "bytes"
      },
      {
        "name": "graph",
        "encoding": "delta",
        "type": "graph"
      },
      {
        "name": "graph_node",
        "encoding": "delta",
        "type": "graph_node"
      },
      {
        "name": "value",
        "encoding": "plain",
        "type": "number"
      }
    ]
  },
  "api": {
    "kind": 83,
    "clock": "cupti",
    "columns": [
      {
        "name": "end",
        "encoding": "gap",
        "type": "time"
      },
      {
        "name": "duration",
        "encoding": "ticks",
        "type": "duration"
      },
      {
        "name": "function",
        "encoding": "plain",
        "type": "function"
      },
      {
        "name": "correlation",
        "encoding": "delta",
        "type": "correlation"
      },
      {
        "name": "result",
        "encoding": "plain",
        "type": "result"
      }
    ]
  },
  "sync": {
    "kind": 84,
    "clock": "cupti",
    "columns": [
      {
        "name": "end",
        "encoding": "gap",
        "type": "time"
      },
      {
        "name": "duration",
        "encoding": "ticks",
        "type": "duration"
      },
      {
        "name": "operation",
        "encoding": "plain",
        "type": "bits",
        "fields": [
          {
            "name": "kind",
            "first_bit": 0,
            "bits": 32,
            "type": "enum",
            "values": {
              "0": "unknown",
              "1": "event",
              "2": "stream_wait",
              "3": "stream",
              "4": "context"
            }
          }
        ]
      },
      {
        "name": "correlation",
        "encoding": "delta",
        "type": "correlation"
      },
      {
        "name": "stream",
        "encoding": "plain",
        "type": "number"
      },
      {
        "name": "event",
        "encoding": "delta",
        "type": "number"
      },
      {
        "name": "result",
        "encoding": "plain",
        "type": "result"
      },
      {
        "name": "event_record",
        "encoding": "delta",
        "type": "number"
      }
    ]
  },
  "device_memory": {
    "kind": 85,
    "clock": "cupti",
    "columns": [
      {
        "name": "time",
        "encoding": "time"
      },
      {
        "name": "operation",
        "encoding": "plain"
      },
      {
        "name": "address",
        "encoding": "address"
      },
      {
        "name": "bytes",
        "encoding": "plain"
      },
      {
        "name": "correlation",
        "encoding": "delta"
      },
      {
        "name": "pool",
        "encoding": "delta"
      },
      {
        "name": "pc",
        "encoding": "delta"
      },
      {
        "name": "origin",
        "encoding": "plain"
      }
    ]
  },
  "memory_pool": {
    "kind": 86,
    "clock": "cupti",
    "columns": [
      {
        "name": "time",
        "encoding": "time"
      },
      {
        "name": "operation",
        "encoding": "plain"
      },
      {
        "name": "pool",
        "encoding": "delta"
      },
      {
        "name": "size",
        "encoding": "delta"
      },
      {
        "name": "utilized",
        "encoding": "delta"
      },
      {
        "name": "threshold",
        "encoding": "delta"
      },
      {
        "name": "kept",
        "encoding": "plain"
      },
      {
        "name": "correlation",
        "encoding": "plain"
      }
    ]
  },
  "graph_launch": {
    "kind": 87,
    "clock": "cupti",
    "columns": [
      {
        "name": "end",
        "encoding": "gap",
        "type": "time"
      },
      {
        "name": "duration",
        "encoding": "ticks",
        "type": "duration"
      },
      {
        "name": "graph",
        "encoding": "plain",
        "type": "graph"
      },
      {
        "name": "correlation",
        "encoding": "delta",
        "type": "correlation"
      }
    ]
  },
  "overhead": {
    "kind": 88,
    "clock": "cupti",
    "columns": [
      {
        "name": "end",
        "encoding": "gap",
        "type": "time"
      },
      {
        "name": "duration",
        "encoding": "ticks",
        "type": "duration"
      },
      {
        "name": "operation",
        "encoding": "plain",
        "type": "bits",
        "fields": [
          {
            "name": "kind",
            "first_bit": 0,
            "bits": 32,
            "type": "enum",
            "values": {
              "1": "driver_compiler",
              "2": "cupti_buffer_flush",
              "3": "cupti_instrumentation",
              "4": "cupti_resource",
              "5": "module_loading",
              "6": "lazy_function_loading",
              "7": "command_buffer_full",
              "8": "cupti_buffer_request",
              "9": "cupti_unified_memory",
              "17": "ptx_cache_load",
              "18": "ptx_cache_store",
              "19": "ptx_compile",
              "33": "nvvm_cache_load",
              "34": "nvvm_cache_store",
              "35": "nvvm_compile"
            }
          }
        ]
      },
      {
        "name": "correlation",
        "encoding": "delta",
        "type": "correlation"
      },
      {
        "name": "bytes",
        "encoding": "plain",
        "type": "bytes"
      }
    ]
  },
  "cuda_event": {
    "kind": 89,
    "clock": "cupti",
    "columns": [
      {
        "name": "time",
        "encoding": "time"
      },
      {
        "name": "correlation",
        "encoding": "delta"
      },
      {
        "name": "event",
        "encoding": "delta"
      },
      {
        "name": "record",
        "encoding": "delta"
      }
    ]
  },
  "unified_memory": {
    "kind": 90,
    "clock": "cupti",
    "columns": [
      {
        "name": "end",
        "encoding": "gap"
      },
      {
        "name": "duration",
        "encoding": "ticks"
      },
      {
        "name": "operation",
        "encoding": "plain"
      },
      {
        "name": "value",
        "encoding": "keyed"
      },
      {
        "name": "address",
        "encoding": "address"
      },
      {
        "name": "source",
        "encoding": "plain"
      },
      {
        "name": "destination",
        "encoding": "plain"
      }
    ]
  },
  "host_function": {
    "kind": 91,
    "clock": "cupti",
    "columns": [
      {
        "name": "end",
        "encoding": "gap",
        "type": "time"
      },
      {
        "name": "duration",
        "encoding": "ticks",
        "type": "duration"
      },
      {
        "name": "thread",
        "encoding": "plain",
        "type": "thread"
      },
      {
        "name": "correlation",
        "encoding": "delta",
        "type": "correlation"
      },
      {
        "name": "graph",
        "encoding": "delta",
        "type": "graph"
      },
      {
        "name": "graph_node",
        "encoding": "delta",
        "type": "graph_node"
      }
    ]
  }
} as const;

/** Tables of entries: each is one message of Chunk. */
export const ENTRIES = {
  "meta": {
    "kind": 1,
    "field": 13
  },
  "strings": {
    "kind": 2,
    "field": 8
  },
  "stacks": {
    "kind": 3,
    "field": 9
  },
  "modules": {
    "kind": 4,
    "field": 10
  },
  "clocks": {
    "kind": 5,
    "field": 11
  },
  "threads": {
    "kind": 6,
    "field": 12
  },
  "health": {
    "kind": 7,
    "field": 14
  },
  "signatures": {
    "kind": 8,
    "field": 25
  },
  "streams": {
    "kind": 9,
    "field": 26
  },
  "devices": {
    "kind": 10,
    "field": 27
  },
  "functions": {
    "kind": 11,
    "field": 28
  },
  "graph_nodes": {
    "kind": 12,
    "field": 29
  },
  "counters": {
    "kind": 13,
    "field": 30
  },
  "hlo_modules": {
    "kind": 14,
    "field": 36
  },
  "work_sums": {
    "kind": 15,
    "field": 37
  }
} as const;
