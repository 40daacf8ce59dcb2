// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The place of the timeline.

import type { Source } from "../data/source";

export function Timeline({ source }: { source: Source }) {
  return (
    <div class="page">
      <h2>
        Timeline
        <small>{source.files.length} files of events are in this page</small>
      </h2>
    </div>
  );
}
