// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { PassName, ResultOf } from "../data/results";
import { gonePage, type Loaded, load, route } from "./state";

/** The name of the part whose results a page shows; "": the whole run. */
export const PagePart = createContext("");

interface Answer<P extends PassName> {
  readonly pass: P;
  readonly part: string;
  readonly loaded: Loaded<ResultOf<P>>;
}

/** Returns the result of a pass, which is "loading" at first. */
export function useResult<P extends PassName>(pass: P): Loaded<ResultOf<P>> {
  const part = useContext(PagePart);
  const [answer, setAnswer] = useState<Answer<P> | null>(null);
  useEffect(() => {
    let isWanted = true;
    load(pass, part).then((loaded) => {
      if (!isWanted) return;
      if (loaded.state === "absent" && loaded.isGone === true) gonePage.value = route.value.page;
      setAnswer({ pass, part, loaded });
    });
    return () => {
      isWanted = false;
    };
  }, [pass, part]);
  const isAnswer = answer !== null && answer.pass === pass && answer.part === part;
  return isAnswer ? answer.loaded : { state: "loading" };
}
