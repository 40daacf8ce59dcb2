// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Findings that assistants have kept with the recording. They stand apart from gpuprof's own, in a
// frame that says whose they are: gpuprof has not checked them.

import { useMemo } from "preact/hooks";
import { plural } from "../base/format";
import { type AssistantFinding, assistantFindings } from "../data/assistant";

function One({ finding }: { finding: AssistantFinding }) {
  return (
    <li class="assistant-finding">
      <h3>{finding.title}</h3>
      {finding.text !== "" && <p>{finding.text}</p>}
      {finding.evidence.map((sentence) => (
        <p key={sentence} class="quiet">
          {sentence}
        </p>
      ))}
      <p class="quiet">
        {finding.severity}
        {finding.author !== "" && ` · ${finding.author}`}
        {finding.check !== "" && (
          <>
            {" · check: "}
            <code>{finding.check}</code>
          </>
        )}
      </p>
    </li>
  );
}

export function AssistantFindings() {
  const findings = useMemo(() => assistantFindings(document), []);
  if (findings.length === 0) return null;
  return (
    <section class="section assistant" aria-label="Findings of an assistant">
      <h2>
        {plural(findings.length, "finding", "findings")} of an assistant{" "}
        <span class="quiet">not checked by gpuprof</span>
      </h2>
      <ul class="assistant-findings">
        {findings.map((finding, index) => (
          <One key={index} finding={finding} />
        ))}
      </ul>
    </section>
  );
}
