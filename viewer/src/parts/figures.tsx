// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Key figures: a label, a number, and what the number is of. At most eight.

export interface Figure {
  readonly label: string;
  readonly value: string;
  readonly below: string;
  /** The figure is the cause that the page's sentence names. */
  readonly isCause?: boolean;
}

export function Figures({ figures }: { figures: readonly Figure[] }) {
  return (
    <dl class="figures">
      {figures.slice(0, 8).map((figure) => (
        <div key={figure.label}>
          <dt>{figure.label}</dt>
          <dd class={figure.isCause ? "value bad" : "value"}>{figure.value}</dd>
          <dd class="below" title={figure.below}>
            {figure.below}
          </dd>
        </div>
      ))}
    </dl>
  );
}
