// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Findings that assistants have kept with the recording (docs/assistants.md). They stand in the
// page as an element of JSON. They are words of somebody else, so each member is checked.

/** A finding in words of an assistant. */
export interface AssistantFinding {
  readonly title: string;
  readonly text: string;
  readonly severity: "high" | "medium" | "low" | "info";
  /** Which assistant; "": not told. */
  readonly author: string;
  /** A command or a question that shows the figures; "": none. */
  readonly check: string;
  readonly evidence: readonly string[];
  /** Where it shows in the timeline. */
  readonly window_ns: readonly [number, number] | null;
}

const SEVERITIES = ["high", "medium", "low", "info"] as const;

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function windowOf(value: unknown): readonly [number, number] | null {
  if (!Array.isArray(value) || value.length !== 2) return null;
  const [from, to] = value as unknown[];
  return typeof from === "number" && typeof to === "number" && from <= to ? [from, to] : null;
}

function findingOf(value: unknown): AssistantFinding | null {
  if (typeof value !== "object" || value === null) return null;
  const given = value as Record<string, unknown>;
  const title = textOf(given.title);
  if (title === "") return null;
  const evidence = Array.isArray(given.evidence) ? (given.evidence as unknown[]) : [];
  return {
    title,
    text: textOf(given.text),
    severity: SEVERITIES.find((each) => each === given.severity) ?? "info",
    author: textOf(given.author),
    check: textOf(given.check),
    evidence: evidence.map(textOf).filter((each) => each !== ""),
    window_ns: windowOf(given.window_ns),
  };
}

/** Reads the findings of assistants in a page. None: nobody has kept one, or they cannot be read. */
export function assistantFindings(page: Document): readonly AssistantFinding[] {
  const block = page.getElementById("gpuprof-assistant");
  if (block === null) return [];
  try {
    const list: unknown = JSON.parse(block.textContent ?? "");
    if (!Array.isArray(list)) return [];
    return list.map(findingOf).filter((each) => each !== null);
  } catch {
    return [];
  }
}
