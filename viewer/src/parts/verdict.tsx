// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The sentences in which a result says what it found: those that the command prints.

import { emphasize } from "../pages/findings";

export function Verdict({ text }: { text: string }) {
  if (text === "") return null;
  return <p class="verdict">{emphasize(text)}</p>;
}
