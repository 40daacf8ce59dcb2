// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useState } from "preact/hooks";
import type { PassName, ResultOf } from "../data/results";
import { type Loaded, load } from "./state";

/** Returns the result of a pass, which is "loading" at first. */
export function useResult<P extends PassName>(pass: P): Loaded<ResultOf<P>> {
  const [answer, setAnswer] = useState<{ pass: P; loaded: Loaded<ResultOf<P>> } | null>(null);
  useEffect(() => {
    let isWanted = true;
    load(pass).then((loaded) => {
      if (isWanted) setAnswer({ pass, loaded });
    });
    return () => {
      isWanted = false;
    };
  }, [pass]);
  return answer !== null && answer.pass === pass ? answer.loaded : { state: "loading" };
}
