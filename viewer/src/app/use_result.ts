// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { PassName, ResultOf } from "../data/results";
import { gonePage, type Loaded, load, type Range, route } from "./state";

/** The range that a page is narrowed to by the server; null: the page is of the whole run. */
export const PageRange = createContext<Range | null>(null);

interface Answer<P extends PassName> {
  readonly pass: P;
  readonly range: Range | null;
  readonly loaded: Loaded<ResultOf<P>>;
}

/** Returns the result of a pass, which is "loading" at first. */
export function useResult<P extends PassName>(pass: P): Loaded<ResultOf<P>> {
  const range = useContext(PageRange);
  const [answer, setAnswer] = useState<Answer<P> | null>(null);
  useEffect(() => {
    let isWanted = true;
    load(pass, range).then((loaded) => {
      if (!isWanted) return;
      if (loaded.state === "absent" && loaded.isGone === true) gonePage.value = route.value.page;
      setAnswer({ pass, range, loaded });
    });
    return () => {
      isWanted = false;
    };
  }, [pass, range]);
  const isAnswer = answer !== null && answer.pass === pass && answer.range === range;
  return isAnswer ? answer.loaded : { state: "loading" };
}
