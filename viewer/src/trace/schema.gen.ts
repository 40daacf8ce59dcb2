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
        "type": "time",
        "encoding": "time",
        "unit": "ticks"
      },
      {
        "name": "operation",
        "type": "bits",
        "encoding": "plain",
        "fields": [
          {
            "name": "free",
            "first_bit": 0,
            "bits": 1,
            "type": "flag"
          },
          {
            "name": "call",
            "first_bit": 1,
            "bits": 7,
            "type": "enum",
            "values": {
              "1": "malloc",
              "2": "calloc",
              "3": "realloc",
              "4": "free",
              "5": "posix_memalign",
              "6": "aligned_alloc",
              "7": "memalign",
              "8": "valloc",
              "9": "pvalloc",
              "10": "reallocarray",
              "11": "free_sized",
              "12": "free_aligned_sized"
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
          }
        ]
      },
      {
        "name": "address",
        "type": "address",
        "encoding": "address"
      },
      {
        "name": "size",
        "type": "bytes",
        "encoding": "plain",
        "unit": "bytes"
      },
      {
        "name": "stack",
        "type": "stack",
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
        "type": "time",
        "encoding": "time",
        "unit": "ticks"
      },
      {
        "name": "duration",
        "type": "duration",
        "encoding": "span",
        "unit": "ticks"
      },
      {
        "name": "operation",
        "type": "bits",
        "encoding": "plain",
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
        "type": "address",
        "encoding": "address"
      },
      {
        "name": "caller",
        "type": "pc",
        "encoding": "delta"
      },
      {
        "name": "stack",
        "type": "stack",
        "encoding": "plain"
      },
      {
        "name": "owner",
        "type": "thread",
        "encoding": "plain"
      }
    ]
  },
  "op": {
    "kind": 34,
    "clock": "ticks",
    "columns": [
      {
        "name": "end",
        "type": "time",
        "encoding": "time",
        "unit": "ticks"
      },
      {
        "name": "duration",
        "type": "duration",
        "encoding": "span",
        "unit": "ticks"
      },
      {
        "name": "name",
        "type": "string",
        "encoding": "plain"
      },
      {
        "name": "operation",
        "type": "bits",
        "encoding": "plain",
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
        "type": "time",
        "encoding": "time",
        "unit": "ticks"
      },
      {
        "name": "device",
        "type": "device",
        "encoding": "plain"
      },
      {
        "name": "address",
        "type": "address",
        "encoding": "address"
      },
      {
        "name": "bytes",
        "type": "signed_bytes",
        "encoding": "plain",
        "unit": "bytes"
      },
      {
        "name": "total_allocated",
        "type": "bytes",
        "encoding": "delta",
        "unit": "bytes"
      },
      {
        "name": "total_reserved",
        "type": "bytes",
        "encoding": "delta",
        "unit": "bytes"
      }
    ]
  },
  "thread": {
    "kind": 36,
    "clock": "ticks",
    "columns": [
      {
        "name": "time",
        "type": "time",
        "encoding": "time",
        "unit": "ticks"
      },
      {
        "name": "event",
        "type": "enum",
        "encoding": "plain",
        "values": {
          "1": "start",
          "2": "name",
          "3": "exit",
          "4": "seen"
        }
      },
      {
        "name": "a",
        "type": "number",
        "encoding": "plain"
      },
      {
        "name": "b",
        "type": "number",
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
        "type": "time",
        "encoding": "time",
        "unit": "ticks"
      },
      {
        "name": "event",
        "type": "enum",
        "encoding": "plain",
        "values": {
          "1": "fork",
          "2": "vfork",
          "3": "spawn",
          "4": "exec",
          "5": "exit"
        }
      },
      {
        "name": "a",
        "type": "number",
        "encoding": "plain"
      },
      {
        "name": "b",
        "type": "number",
        "encoding": "plain"
      },
      {
        "name": "text",
        "type": "string",
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
        "type": "time",
        "encoding": "time",
        "unit": "ticks"
      },
      {
        "name": "operation",
        "type": "bits",
        "encoding": "plain",
        "fields": [
          {
            "name": "call",
            "first_bit": 0,
            "bits": 8,
            "type": "enum",
            "values": {
              "1": "mmap",
              "2": "munmap",
              "3": "mremap",
              "4": "mremap_from"
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
          }
        ]
      },
      {
        "name": "address",
        "type": "address",
        "encoding": "address"
      },
      {
        "name": "size",
        "type": "bytes",
        "encoding": "plain",
        "unit": "bytes"
      },
      {
        "name": "stack",
        "type": "stack",
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
        "type": "time",
        "encoding": "time",
        "unit": "ticks"
      },
      {
        "name": "duration",
        "type": "duration",
        "encoding": "span",
        "unit": "ticks"
      },
      {
        "name": "name",
        "type": "string",
        "encoding": "plain"
      },
      {
        "name": "operation",
        "type": "bits",
        "encoding": "plain",
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
        "type": "string",
        "encoding": "plain"
      },
      {
        "name": "style",
        "type": "bits",
        "encoding": "plain",
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
        "type": "number",
        "encoding": "plain"
      },
      {
        "name": "begin_thread",
        "type": "thread",
        "encoding": "plain"
      }
    ]
  },
  "range_payload": {
    "kind": 40,
    "clock": "ticks",
    "columns": [
      {
        "name": "time",
        "type": "time",
        "encoding": "time",
        "unit": "ticks"
      },
      {
        "name": "operation",
        "type": "bits",
        "encoding": "plain",
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
            "name": "end",
            "first_bit": 4,
            "bits": 1,
            "type": "flag"
          },
          {
            "name": "unused",
            "first_bit": 5,
            "bits": 3,
            "type": "number"
          },
          {
            "name": "handles",
            "first_bit": 8,
            "bits": 7,
            "type": "number"
          },
          {
            "name": "first",
            "first_bit": 15,
            "bits": 1,
            "type": "flag"
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
        "type": "string",
        "encoding": "plain"
      },
      {
        "name": "definition",
        "type": "number",
        "encoding": "plain"
      },
      {
        "name": "value",
        "type": "number",
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
        "type": "time",
        "encoding": "time",
        "unit": "ticks"
      },
      {
        "name": "correlation",
        "type": "correlation",
        "encoding": "delta"
      },
      {
        "name": "function",
        "type": "function",
        "encoding": "plain"
      },
      {
        "name": "stack",
        "type": "stack",
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
        "type": "time",
        "encoding": "time",
        "unit": "ticks"
      },
      {
        "name": "duration",
        "type": "duration",
        "encoding": "span",
        "unit": "ticks"
      },
      {
        "name": "path",
        "type": "string",
        "encoding": "plain"
      },
      {
        "name": "bytes",
        "type": "signed_bytes",
        "encoding": "plain",
        "unit": "bytes"
      },
      {
        "name": "descriptor",
        "type": "number",
        "encoding": "plain"
      }
    ]
  },
  "counter": {
    "kind": 64,
    "clock": "ticks",
    "columns": [
      {
        "name": "time",
        "type": "time",
        "encoding": "time",
        "unit": "ticks"
      },
      {
        "name": "counter",
        "type": "counter",
        "encoding": "plain"
      },
      {
        "name": "value",
        "type": "signed",
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
        "type": "time",
        "encoding": "time",
        "unit": "ticks"
      },
      {
        "name": "duration",
        "type": "duration",
        "encoding": "span",
        "unit": "ticks"
      },
      {
        "name": "name",
        "type": "string",
        "encoding": "plain"
      },
      {
        "name": "parent",
        "type": "number",
        "encoding": "delta"
      },
      {
        "name": "stack",
        "type": "stack",
        "encoding": "plain"
      },
      {
        "name": "inner",
        "type": "duration",
        "encoding": "plain",
        "unit": "ticks"
      }
    ]
  },
  "row_detail": {
    "kind": 66,
    "clock": "ticks",
    "columns": [
      {
        "name": "time",
        "type": "time",
        "encoding": "time",
        "unit": "ticks"
      },
      {
        "name": "table",
        "type": "enum",
        "encoding": "plain",
        "values": {
          "1": "meta",
          "2": "strings",
          "3": "stacks",
          "4": "modules",
          "5": "clocks",
          "6": "threads",
          "7": "health",
          "8": "signatures",
          "9": "streams",
          "10": "devices",
          "11": "functions",
          "12": "graph_nodes",
          "13": "counters",
          "14": "hlo_modules",
          "15": "work_sums",
          "32": "heap",
          "33": "wait",
          "34": "op",
          "35": "tensor",
          "36": "thread",
          "37": "process",
          "38": "mapping",
          "39": "range",
          "40": "range_payload",
          "41": "launch",
          "42": "file_read",
          "64": "counter",
          "65": "python",
          "66": "row_detail",
          "80": "kernel",
          "81": "memcpy",
          "82": "memset",
          "83": "api",
          "84": "sync",
          "85": "device_memory",
          "86": "memory_pool",
          "87": "graph_launch",
          "88": "overhead",
          "89": "cuda_event",
          "90": "unified_memory",
          "91": "host_function"
        }
      },
      {
        "name": "row",
        "type": "number",
        "encoding": "delta"
      },
      {
        "name": "external",
        "type": "number",
        "encoding": "delta"
      },
      {
        "name": "detail",
        "type": "string",
        "encoding": "plain"
      },
      {
        "name": "sequence",
        "type": "number",
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
        "type": "time",
        "encoding": "gap",
        "unit": "ns"
      },
      {
        "name": "duration",
        "type": "duration",
        "encoding": "ticks",
        "unit": "ns"
      },
      {
        "name": "signature",
        "type": "signature",
        "encoding": "plain"
      },
      {
        "name": "correlation",
        "type": "correlation",
        "encoding": "delta"
      },
      {
        "name": "graph",
        "type": "graph",
        "encoding": "delta"
      },
      {
        "name": "graph_node",
        "type": "graph_node",
        "encoding": "delta"
      }
    ]
  },
  "memcpy": {
    "kind": 81,
    "clock": "cupti",
    "columns": [
      {
        "name": "end",
        "type": "time",
        "encoding": "gap",
        "unit": "ns"
      },
      {
        "name": "duration",
        "type": "duration",
        "encoding": "ticks",
        "unit": "ns"
      },
      {
        "name": "operation",
        "type": "bits",
        "encoding": "plain",
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
        "type": "correlation",
        "encoding": "delta"
      },
      {
        "name": "bytes",
        "type": "bytes",
        "encoding": "keyed",
        "unit": "bytes"
      },
      {
        "name": "graph",
        "type": "graph",
        "encoding": "delta"
      },
      {
        "name": "graph_node",
        "type": "graph_node",
        "encoding": "delta"
      },
      {
        "name": "peer",
        "type": "bits",
        "encoding": "plain",
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
        "type": "time",
        "encoding": "gap",
        "unit": "ns"
      },
      {
        "name": "duration",
        "type": "duration",
        "encoding": "ticks",
        "unit": "ns"
      },
      {
        "name": "operation",
        "type": "bits",
        "encoding": "plain",
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
        "type": "correlation",
        "encoding": "delta"
      },
      {
        "name": "bytes",
        "type": "bytes",
        "encoding": "keyed",
        "unit": "bytes"
      },
      {
        "name": "graph",
        "type": "graph",
        "encoding": "delta"
      },
      {
        "name": "graph_node",
        "type": "graph_node",
        "encoding": "delta"
      },
      {
        "name": "value",
        "type": "number",
        "encoding": "plain"
      }
    ]
  },
  "api": {
    "kind": 83,
    "clock": "cupti",
    "columns": [
      {
        "name": "end",
        "type": "time",
        "encoding": "gap",
        "unit": "ns"
      },
      {
        "name": "duration",
        "type": "duration",
        "encoding": "ticks",
        "unit": "ns"
      },
      {
        "name": "function",
        "type": "function",
        "encoding": "plain"
      },
      {
        "name": "correlation",
        "type": "correlation",
        "encoding": "delta"
      },
      {
        "name": "result",
        "type": "result",
        "encoding": "plain"
      }
    ]
  },
  "sync": {
    "kind": 84,
    "clock": "cupti",
    "columns": [
      {
        "name": "end",
        "type": "time",
        "encoding": "gap",
        "unit": "ns"
      },
      {
        "name": "duration",
        "type": "duration",
        "encoding": "ticks",
        "unit": "ns"
      },
      {
        "name": "operation",
        "type": "bits",
        "encoding": "plain",
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
        "type": "correlation",
        "encoding": "delta"
      },
      {
        "name": "stream",
        "type": "number",
        "encoding": "plain"
      },
      {
        "name": "event",
        "type": "number",
        "encoding": "delta"
      },
      {
        "name": "result",
        "type": "result",
        "encoding": "plain"
      },
      {
        "name": "event_record",
        "type": "number",
        "encoding": "delta"
      }
    ]
  },
  "device_memory": {
    "kind": 85,
    "clock": "cupti",
    "columns": [
      {
        "name": "time",
        "type": "time",
        "encoding": "time",
        "unit": "ns"
      },
      {
        "name": "operation",
        "type": "bits",
        "encoding": "plain",
        "fields": [
          {
            "name": "operation",
            "first_bit": 0,
            "bits": 8,
            "type": "enum",
            "values": {
              "1": "allocation",
              "2": "release"
            }
          },
          {
            "name": "kind",
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
            "name": "pool_type",
            "first_bit": 16,
            "bits": 8,
            "type": "enum",
            "values": {
              "0": "none",
              "1": "local",
              "2": "imported"
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
        "name": "address",
        "type": "address",
        "encoding": "address"
      },
      {
        "name": "bytes",
        "type": "bytes",
        "encoding": "plain",
        "unit": "bytes"
      },
      {
        "name": "correlation",
        "type": "correlation",
        "encoding": "delta"
      },
      {
        "name": "pool",
        "type": "address",
        "encoding": "delta"
      },
      {
        "name": "pc",
        "type": "pc",
        "encoding": "delta"
      },
      {
        "name": "origin",
        "type": "string",
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
        "type": "time",
        "encoding": "time",
        "unit": "ns"
      },
      {
        "name": "operation",
        "type": "bits",
        "encoding": "plain",
        "fields": [
          {
            "name": "operation",
            "first_bit": 0,
            "bits": 8,
            "type": "enum",
            "values": {
              "0": "seen",
              "1": "created",
              "2": "destroyed",
              "3": "trimmed"
            }
          },
          {
            "name": "pool_type",
            "first_bit": 8,
            "bits": 8,
            "type": "enum",
            "values": {
              "0": "none",
              "1": "local",
              "2": "imported"
            }
          },
          {
            "name": "managed",
            "first_bit": 16,
            "bits": 1,
            "type": "flag"
          }
        ]
      },
      {
        "name": "pool",
        "type": "address",
        "encoding": "delta"
      },
      {
        "name": "size",
        "type": "bytes",
        "encoding": "delta",
        "unit": "bytes"
      },
      {
        "name": "utilized",
        "type": "bytes",
        "encoding": "delta",
        "unit": "bytes"
      },
      {
        "name": "threshold",
        "type": "bytes",
        "encoding": "delta",
        "unit": "bytes"
      },
      {
        "name": "kept",
        "type": "bytes",
        "encoding": "plain",
        "unit": "bytes"
      },
      {
        "name": "correlation",
        "type": "correlation",
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
        "type": "time",
        "encoding": "gap",
        "unit": "ns"
      },
      {
        "name": "duration",
        "type": "duration",
        "encoding": "ticks",
        "unit": "ns"
      },
      {
        "name": "graph",
        "type": "graph",
        "encoding": "plain"
      },
      {
        "name": "correlation",
        "type": "correlation",
        "encoding": "delta"
      }
    ]
  },
  "overhead": {
    "kind": 88,
    "clock": "cupti",
    "columns": [
      {
        "name": "end",
        "type": "time",
        "encoding": "gap",
        "unit": "ns"
      },
      {
        "name": "duration",
        "type": "duration",
        "encoding": "ticks",
        "unit": "ns"
      },
      {
        "name": "operation",
        "type": "bits",
        "encoding": "plain",
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
        "type": "correlation",
        "encoding": "delta"
      },
      {
        "name": "bytes",
        "type": "bytes",
        "encoding": "plain",
        "unit": "bytes"
      }
    ]
  },
  "cuda_event": {
    "kind": 89,
    "clock": "cupti",
    "columns": [
      {
        "name": "time",
        "type": "time",
        "encoding": "time",
        "unit": "ns"
      },
      {
        "name": "correlation",
        "type": "correlation",
        "encoding": "delta"
      },
      {
        "name": "event",
        "type": "number",
        "encoding": "delta"
      },
      {
        "name": "record",
        "type": "number",
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
        "type": "time",
        "encoding": "gap",
        "unit": "ns"
      },
      {
        "name": "duration",
        "type": "duration",
        "encoding": "ticks",
        "unit": "ns"
      },
      {
        "name": "operation",
        "type": "bits",
        "encoding": "plain",
        "fields": [
          {
            "name": "kind",
            "first_bit": 0,
            "bits": 8,
            "type": "enum",
            "values": {
              "1": "HtoD",
              "2": "DtoH",
              "3": "cpu_page_fault",
              "4": "gpu_page_fault",
              "5": "thrashing",
              "6": "throttling",
              "7": "remote_map",
              "8": "DtoD"
            }
          },
          {
            "name": "cause",
            "first_bit": 8,
            "bits": 24,
            "type": "number"
          }
        ]
      },
      {
        "name": "value",
        "type": "number",
        "encoding": "keyed"
      },
      {
        "name": "address",
        "type": "address",
        "encoding": "address"
      },
      {
        "name": "source",
        "type": "number",
        "encoding": "plain"
      },
      {
        "name": "destination",
        "type": "number",
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
        "type": "time",
        "encoding": "gap",
        "unit": "ns"
      },
      {
        "name": "duration",
        "type": "duration",
        "encoding": "ticks",
        "unit": "ns"
      },
      {
        "name": "thread",
        "type": "thread",
        "encoding": "plain"
      },
      {
        "name": "correlation",
        "type": "correlation",
        "encoding": "delta"
      },
      {
        "name": "graph",
        "type": "graph",
        "encoding": "delta"
      },
      {
        "name": "graph_node",
        "type": "graph_node",
        "encoding": "delta"
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
