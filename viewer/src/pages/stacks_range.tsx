// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The flame graph of the Python functions in a range, from the events. Stacks of other weights are
// known of whole recordings and of the parts that have results.

import { useMemo } from "preact/hooks";
import { WithTrace } from "../app/narrowed";
import { useAnswer } from "../app/open_trace";
import type { OfRangeProps } from "../app/pages";
import { scope, scopeWords } from "../app/scope";
import { leftOutWords } from "../base/format";
import { Loading, Remark } from "../parts/states";
import type { CallTree, Trace } from "../trace/api";
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

function OfTrace({ source, trace, otherwise }: OfRangeProps & { trace: Trace }) {
  const tree = useAnswer(trace, (from, selection) => from.calls(selection));
  const result = useMemo(() => (tree === null ? null : stacksOf(tree)), [tree]);
  if (tree === null || result === null) return <Loading what="the events of the range" />;
  if (result.stacks.length === 0) return otherwise;
  return (
    <>
      {tree.left_out > 0 && <Remark>{leftOutWords(tree.left_out)}</Remark>}
      <Stacks source={source} python={result} />
    </>
  );
}

/** Shows the Python functions of the scope; stacks of other weights are of a wider part. */
export function StacksOfRange(props: OfRangeProps) {
  return (
    <WithTrace source={props.source} otherwise={props.otherwise}>
      {(trace) => <OfTrace {...props} trace={trace} />}
    </WithTrace>
  );
}
