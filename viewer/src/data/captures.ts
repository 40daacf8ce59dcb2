// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The captures of a folder, and the processes that record into it: what `gpuprof serve FOLDER` answers.

export interface Capture {
  readonly id: string;
  readonly title: string;
  readonly kind: "bundle" | "file";
  /** The tool that wrote it; empty: gpuprof. */
  readonly importer: string;
  readonly bytes: number;
  readonly modified_ns: number;
  readonly state: "ready" | "importing" | "failed";
  /** The part of an import that is done; null: it is not known. */
  readonly progress: number | null;
  /** Why it failed. */
  readonly reason: string;
}

export interface Recorder {
  readonly pid: number;
  readonly command: string;
  readonly state: string;
  /** The capture that it records into. */
  readonly title: string;
}

export interface Folder {
  readonly captures: readonly Capture[];
  readonly processes: readonly Recorder[];
}

export type Order = "start" | "stop" | "snapshot";

function isFolder(value: unknown): value is Folder {
  const folder = value as Partial<Folder> | null;
  return Array.isArray(folder?.captures) && Array.isArray(folder?.processes);
}

const NO_ANSWER = "The server does not answer. Start 'gpuprof serve' again.";

/** Asks what is in the folder. Rejects with a sentence for people. */
export async function askFolder(): Promise<Folder> {
  let answer: Response;
  try {
    answer = await fetch("captures", { cache: "no-store" });
  } catch {
    throw new Error(NO_ANSWER);
  }
  if (answer.status !== 200) throw new Error(`The server answered with ${answer.status}.`);
  const folder: unknown = await answer.json().catch(() => null);
  if (!isFolder(folder)) throw new Error("The server's answer is no list of captures.");
  return folder;
}

/** Orders a process to begin or end a capture. Returns what the server says, for people. */
export async function order(pid: number, what: Order): Promise<string> {
  try {
    const headers = { "X-Gpuprof": "1" };
    const answer = await fetch(`control/${pid}/${what}`, { method: "POST", headers });
    const said = (await answer.json().catch(() => null)) as { message?: unknown } | null;
    if (typeof said?.message === "string" && said.message !== "") return said.message;
    return answer.ok ? "Done." : `The server answered with ${answer.status}.`;
  } catch {
    return NO_ANSWER;
  }
}

/** Returns the address of a comparison, the older capture first. */
export function compareAddress(one: Capture, other: Capture): string {
  const [before, after] = one.modified_ns <= other.modified_ns ? [one, other] : [other, one];
  return `diff/${encodeURIComponent(before.id)}/${encodeURIComponent(after.id)}/`;
}

export const PERIOD_MS = 2000;

export interface Watch {
  /** Asks now, and goes on from there. */
  readonly again: () => void;
  readonly stop: () => void;
}

/**
 * Asks at once and then every two seconds while the page is visible. One request is under way at a
 * time.
 */
export function watchFolder(tell: (folder: Folder) => void, fail: (reason: string) => void): Watch {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  let isAsking = false;
  const next = async () => {
    clearTimeout(timer);
    if (isOver || isAsking || document.visibilityState === "hidden") return;
    isAsking = true;
    try {
      const folder = await askFolder();
      if (!isOver) tell(folder);
    } catch (error) {
      if (!isOver) fail(error instanceof Error ? error.message : String(error));
    }
    isAsking = false;
    timer = setTimeout(next, PERIOD_MS);
  };
  next();
  document.addEventListener("visibilitychange", next);
  const stop = () => {
    isOver = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", next);
  };
  return { again: next, stop };
}
