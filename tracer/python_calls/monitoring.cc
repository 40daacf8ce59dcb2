// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python_calls/monitoring.h"

#include "tracer/python_calls/call_recorder.h"
#include "tracer/python_calls/code_table.h"

namespace gpuprof::tracer {
namespace {

// The ids that Python keeps for nobody in particular.
constexpr long kIds[] = {4, 3};

struct State {
  PyObject* none = nullptr;
  PyObject* disable = nullptr;  // sys.monitoring.DISABLE
  long id = -1;
};
constinit State g;

// None and DISABLE live for ever from 3.12 on: their references are not counted.
PyObject* OnStart(PyObject*, PyObject* const* arguments, ptrdiff_t) {
  proto::NameTable::Text* const text = TextOfCode(arguments[0]);
  if (text == nullptr) return g.disable;
  CallBegins(arguments[0], text);
  return g.none;
}

// A generator goes on with an exception. The event cannot be turned off.
PyObject* OnThrow(PyObject*, PyObject* const* arguments, ptrdiff_t) {
  proto::NameTable::Text* const text = TextOfCode(arguments[0]);
  if (text != nullptr) CallBegins(arguments[0], text);
  return g.none;
}

PyObject* OnEnd(PyObject*, PyObject* const* arguments, ptrdiff_t) {
  if (TextOfCode(arguments[0]) == nullptr) return g.disable;
  CallEnds(arguments[0]);
  return g.none;
}

// An exception leaves a function. The event cannot be turned off.
PyObject* OnUnwind(PyObject*, PyObject* const* arguments, ptrdiff_t) {
  if (TextOfCode(arguments[0]) != nullptr) CallEnds(arguments[0]);
  return g.none;
}

PyMethod g_start = {"gpuprof_start", reinterpret_cast<void*>(OnStart), kPyFast, nullptr};
PyMethod g_throw = {"gpuprof_throw", reinterpret_cast<void*>(OnThrow), kPyFast, nullptr};
PyMethod g_end = {"gpuprof_end", reinterpret_cast<void*>(OnEnd), kPyFast, nullptr};
PyMethod g_unwind = {"gpuprof_unwind", reinterpret_cast<void*>(OnUnwind), kPyFast, nullptr};

struct Listened {
  const char* event;
  PyMethod* method;
};
constexpr Listened kListened[] = {{"PY_START", &g_start}, {"PY_RESUME", &g_start},
                                  {"PY_THROW", &g_throw}, {"PY_RETURN", &g_end},
                                  {"PY_YIELD", &g_end},   {"PY_UNWIND", &g_unwind}};

// Returns the number of an event; 0: there is none of this name.
long NumberOf(const Python& python, PyObject* events, const char* name) {
  PyObject* const number = python.attribute(events, name);
  const long value = number != nullptr ? python.as_long(number) : 0;
  python.Drop(number);
  python.clear_error();
  return value > 0 ? value : 0;
}

bool TakeId(const Python& python, PyObject* monitoring) {
  for (const long id : kIds) {
    if (!python.Does(monitoring, "use_tool_id", python.new_long(id), python.new_text("gpuprof")))
      continue;
    g.id = id;
    return true;
  }
  return false;
}

// Has each event call its function of ours, or none. False: it raised.
bool Register(const Python& python, PyObject* monitoring, bool begins) {
  PyObject* const events = python.attribute(monitoring, "events");
  long all = 0;
  bool is_done = events != nullptr;
  for (const Listened& each : kListened) {
    if (events == nullptr) break;
    const long number = NumberOf(python, events, each.event);
    all |= number;
    PyObject* const function =
        begins ? python.new_function(each.method, nullptr, nullptr) : python.Kept(python.none);
    is_done &= number != 0 && function != nullptr &&
               python.Does(monitoring, "register_callback", python.new_long(g.id),
                           python.new_long(number), function);
  }
  python.Drop(events);
  python.clear_error();
  return is_done && python.Does(monitoring, "set_events", python.new_long(g.id),
                                python.new_long(begins ? all : 0));
}

}  // namespace

const char* MonitoringBegin(const Python& python) {
  PyObject* const monitoring = python.Member("sys", "monitoring");
  if (monitoring == nullptr) return "calls are not recorded: Python has no sys.monitoring";
  const char* why = nullptr;
  g.none = python.none;
  if (g.disable == nullptr) g.disable = python.attribute(monitoring, "DISABLE");
  if (g.disable == nullptr || !TakeId(python, monitoring)) {
    why = "calls are not recorded: other tools have the ids 3 and 4 of sys.monitoring";
  } else if (!Register(python, monitoring, /*begins=*/true)) {
    Register(python, monitoring, /*begins=*/false);
    python.Does(monitoring, "free_tool_id", python.new_long(g.id));
    g.id = -1;
    why = "calls are not recorded: sys.monitoring refused the events";
  }
  python.clear_error();
  python.decrement(monitoring);
  return why;
}

void MonitoringEnd(const Python& python) {
  PyObject* const monitoring = g.id >= 0 ? python.Member("sys", "monitoring") : nullptr;
  if (monitoring == nullptr) return;
  python.Does(monitoring, "set_events", python.new_long(g.id), python.new_long(0));
  Register(python, monitoring, /*begins=*/false);
  python.Does(monitoring, "free_tool_id", python.new_long(g.id));
  // Functions that we turned off would stay so for the next tool that has the id.
  if (PyObject* const restarted = python.CallMethod(monitoring, "restart_events"))
    python.decrement(restarted);
  python.clear_error();
  g.id = -1;
  python.decrement(monitoring);
}

}  // namespace gpuprof::tracer
