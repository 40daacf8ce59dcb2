// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Chooses the source that a page was made for.

import { openServed } from "./http";
import { openReport, readManifest } from "./report";
import type { Source } from "./source";

/** Returns the source of a document; null: the document has no data and no server. */
export function openSource(page: Document): Source | null {
  const manifest = readManifest(page);
  return manifest?.http === true ? openServed(manifest) : openReport(page);
}
