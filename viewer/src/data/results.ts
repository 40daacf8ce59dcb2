// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What pages read of the results of passes. The types come from `gpuprof schema --json`; here are the
// names that pages use, and which results they ask for.

import type { Meta, Passes } from "./results.gen";

export type * from "./results.gen";

export interface Result {
  meta: Meta;
}

type Keyed<Pass extends keyof Passes> = `${Pass}:${Passes[Pass]["by"]}`;

/** The passes by name. A name with a colon is `stats PASS --by KEY`. */
export type PassName = keyof Passes | { [Pass in keyof Passes]: Keyed<Pass> }[keyof Passes];

/** The result that has a name. */
export type ResultOf<Name extends PassName> = {
  [Pass in keyof Passes]: Name extends Pass | Keyed<Pass> ? Passes[Pass]["result"] : never;
}[keyof Passes];
