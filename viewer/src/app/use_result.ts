// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { PassName, ResultOf } from "../data/results";
import { gonePage, type Loaded, load, loadSmall, route } from "./state";

/** The name of the part whose results a page shows; "": the whole run. */
export const PagePart = createContext("");

interface Answer<P extends PassName> {
  readonly pass: P;
  readonly part: string;
  readonly loaded: Loaded<ResultOf<P>>;
}

/** Asks for a result of the part that a page shows. */
function useAnswer<P extends PassName>(
  pass: P,
  ask: (pass: P, part: string) => [Promise<Loaded<ResultOf<P>>>, () => void],
): Loaded<ResultOf<P>> {
  const part = useContext(PagePart);
  const [answer, setAnswer] = useState<Answer<P> | null>(null);
  useEffect(() => {
    let isWanted = true;
    const [asked, leave] = ask(pass, part);
    asked.then((loaded) => {
      if (!isWanted) return;
      if (loaded.state === "absent" && loaded.isGone === true) gonePage.value = route.value.page;
      setAnswer({ pass, part, loaded });
    });
    return () => {
      isWanted = false;
      leave();
    };
  }, [pass, part, ask]);
  const isAnswer = answer !== null && answer.pass === pass && answer.part === part;
  return isAnswer ? answer.loaded : { state: "loading" };
}

function askSmall<P extends PassName>(
  pass: P,
  part: string,
): [Promise<Loaded<ResultOf<P>>>, () => void] {
  return [loadSmall(pass, part), () => {}];
}

/** Returns the result of a pass, which is "loading" at first. */
export function useResult<P extends PassName>(pass: P): Loaded<ResultOf<P>> {
  return useAnswer(pass, load<P>);
}

/** Does the same for what a page can do without. A large result stays "loading". */
export function useSmallResult<P extends PassName>(pass: P): Loaded<ResultOf<P>> {
  return useAnswer(pass, askSmall<P>);
}
