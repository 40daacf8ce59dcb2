// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A page of one pass whose rows have several keys: the key is in the place, and chosen in the page.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { PassName, ResultOf } from "../data/results";
import { Segments } from "../parts/segments";
import { type Loaded, replaceParams, route, source } from "./state";
import { useResult } from "./use_result";

export interface Keyed<Name extends PassName> {
  readonly by: Name;
  readonly loaded: Loaded<ResultOf<Name>>;
  /** The choice; absent if the page holds one result only. */
  readonly choice: ComponentChildren;
}

/** Returns the result of the chosen key. The first of the choices is the pass without a key. */
export function useKeyed<Name extends PassName>(
  choices: readonly (readonly [Name, string])[],
): Keyed<Name> {
  const plain = (choices[0] as readonly [Name, string])[0];
  const asked = choices.find(([name]) => name === `${plain}:${route.value.params.get("by")}`);
  const [by, setBy] = useState<Name>(asked?.[0] ?? plain);
  const loaded = useResult(by);
  const held = source.value?.manifest.passes ?? [];
  const offered = choices.filter(([name]) => held.includes(name));
  const choice = offered.length > 1 && (
    <Segments
      label="Group by"
      options={offered}
      value={by}
      onChange={(next) => {
        setBy(next);
        replaceParams({ by: next === plain ? "" : next.slice(plain.length + 1) });
      }}
    />
  );
  return { by, loaded, choice };
}
