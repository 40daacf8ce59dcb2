// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The flame graph of the Python functions in a range, from the events. Stacks of other weights are
// known of whole recordings and of the parts that have results.

import { OfScope } from "../app/of_scope";
import type { OfRangeProps } from "../app/pages";
import { scope, scopeWords } from "../app/scope";
import { leftOutWords } from "../base/format";
import { Remark } from "../parts/states";
import type { CallTree, Selection, Trace } from "../trace/api";
import { Stacks, type Weighted } from "./stacks";

const NO_PLACE = { short_name: "", module: "", offset: 0, file: "", line: 0, pc: 0 };

/** Returns a tree in the form in which results have stacks. */
export function stacksOf({ names, caller, self_ns }: CallTree): Weighted {
  let total = 0;
  for (const each of self_ns) total += each;
  return {
    unit: "ns",
    meaning: `in Python functions, in ${scopeWords(scope.value)}`,
    total,
    total_low: total,
    total_high: total,
    estimated: false,
    stacks: [...self_ns]
      .map((value, call_stack) => ({ pid: 0, call_stack, value }))
      .filter(({ value }) => value > 0),
    call_stacks: {
      frames: names.map((name) => ({ ...NO_PLACE, name })),
      frame: names.map((_, i) => i),
      caller: [...caller],
    },
  };
}

/** Returns the calls of the scope. Null: no Python function was recorded in it. */
async function callsOf(trace: Trace, selection: Selection) {
  const tree = await trace.calls(selection);
  const python = stacksOf(tree);
  return python.stacks.length === 0 ? null : { ...tree, python };
}

/** Shows the Python functions of the scope; stacks of other weights are of a wider part. */
export function StacksOfRange({ source, otherwise }: OfRangeProps) {
  return (
    <OfScope source={source} ask={callsOf} otherwise={otherwise}>
      {({ python, left_out }) => (
        <>
          {left_out > 0 && <Remark>{leftOutWords(left_out)}.</Remark>}
          <Stacks source={source} python={python} />
        </>
      )}
    </OfScope>
  );
}
