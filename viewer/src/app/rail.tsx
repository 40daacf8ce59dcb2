// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The rail: entries that have data, then one line for what was not recorded. On phones it is a list
// to choose from. Pages of one entry are tabs above the page.

import { useEffect, useState } from "preact/hooks";
import { count, percent } from "../base/format";
import { whyLossesUnknown } from "../data/losses";
import type { Overview } from "../data/results";
import { named } from "../pages/overview_words";
import type { Entry, Page } from "./pages";
import { deviceWord, hashOf, inItsWords } from "./state";
import { useResult } from "./use_result";

/** What pages and entries have beside their names. Null: nothing was recorded. */
export interface Badges {
  readonly pages: ReadonlyMap<string, string | null>;
  readonly figures: ReadonlyMap<string, string | null>;
}

/** Asks for the badges of all pages; those that are not known yet are absent. */
export function useBadges(entries: readonly Entry[]): Badges {
  const [badges, setBadges] = useState<Badges>({ pages: new Map(), figures: new Map() });
  useEffect(() => {
    let isWanted = true;
    const pages = new Map<string, string | null>();
    const figures = new Map<string, string | null>();
    const note = (to: Map<string, string | null>, name: string) => (words: string | null) => {
      to.set(name, words);
      if (isWanted) setBadges({ pages, figures });
    };
    for (const entry of entries) {
      entry.figure?.().then(note(figures, entry.title));
      for (const page of entry.pages) page.badge?.().then(note(pages, page.id));
    }
    return () => {
      isWanted = false;
    };
  }, [entries]);
  return badges;
}

/** Returns the pages of an entry that have something to show. */
export function withData(entry: Entry, badges: Badges): Page[] {
  return entry.pages.filter((page) => badges.pages.get(page.id) !== null);
}

/** Returns the entry that a page belongs to. */
function entryOf(entries: readonly Entry[], id: string): Entry | undefined {
  return entries.find((entry) => entry.pages.some((page) => page.id === id));
}

/** Returns the figure beside an entry. */
function figureOf(entry: Entry, badges: Badges): string {
  const own = badges.figures.get(entry.title) ?? null;
  if (entry.figure !== undefined) return own ?? "";
  return badges.pages.get(entry.pages[0]?.id ?? "") ?? "";
}

/** What is recorded without options, and what the options add. */
const DEFAULT_SOURCES = [
  "cuda",
  "heap",
  "locks",
  "threads",
  "ops",
  "tensors",
  "nvtx",
  "itt",
  "samples",
];

/** A page without data, or all of an entry. */
interface Missing {
  readonly title: string;
  readonly id: string;
  readonly sources: readonly string[];
}

/** Returns what was not recorded. A program without a device has no use for pages of one. */
export function missingOf(
  entries: readonly Entry[],
  badges: Badges,
  hasDevice: boolean,
): Missing[] {
  return entries.flatMap((entry): Missing[] => {
    if (entry.isOfDevice && !hasDevice) return [];
    const there = withData(entry, badges);
    const gone = entry.pages.filter((page) => !there.includes(page));
    const [first] = gone;
    if (first === undefined) return [];
    if (there.length === 0) {
      const sources = gone.flatMap((page) => page.sources ?? []);
      return [{ title: entry.title, id: first.id, sources }];
    }
    return gone.map((page) => ({
      title: page.short ?? page.title,
      id: page.id,
      sources: page.sources ?? [],
    }));
  });
}

/** Returns the command that records what is missing. */
export function commandFor(missing: readonly Missing[]): string {
  const wanted = new Set(missing.flatMap((each) => each.sources));
  const added = [...wanted].filter((source) => !DEFAULT_SOURCES.includes(source));
  const option = added.length === 0 ? "" : ` --trace ${[...DEFAULT_SOURCES, ...added].join(",")}`;
  return `gpuprof run${option} -- COMMAND`;
}

export interface RailProps {
  readonly entries: readonly Entry[];
  readonly badges: Badges;
  readonly current: string;
}

/** Returns whether the program used a device, as far as the recording tells. */
function useHasDevice(): boolean {
  const overview = useResult("overview");
  if (overview.state !== "ready") return true;
  const { gpu, environment } = overview.value;
  return (gpu?.window_ns ?? null) !== null || (environment?.devices.length ?? 0) > 0;
}

export function Rail({ entries, badges, current }: RailProps) {
  const missing = missingOf(entries, badges, useHasDevice());
  const shown = entries.filter((entry) => !entry.isFoot && withData(entry, badges).length > 0);
  const now = entryOf(entries, current);
  return (
    <aside class="rail">
      <div class="brand">
        <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
          <path d="M1 2h9v3H1zM4 6.5h11v3H4zM1 11h6v3H1z" fill="currentColor" />
        </svg>
        gpuprof
      </div>
      <nav aria-label="Pages">
        <ul>
          {shown.map((entry) => (
            <li key={entry.title}>
              <a
                href={hashOf(withData(entry, badges)[0]?.id ?? "")}
                aria-current={entry === now ? "page" : undefined}
              >
                {inItsWords(entry.title)}
                <span>{figureOf(entry, badges)}</span>
              </a>
            </li>
          ))}
        </ul>
        {missing.length > 0 && (
          <details>
            <summary>
              <b>Not recorded</b>
              <span>{missing.length}</span>
            </summary>
            <ul>
              {missing.map(({ id, title }) => (
                <li key={id}>
                  <a
                    href={hashOf(id)}
                    class="none"
                    aria-current={
                      id === current && !shown.includes(now as Entry) ? "page" : undefined
                    }
                  >
                    {inItsWords(title)}
                  </a>
                </li>
              ))}
            </ul>
            <p>
              Record all of it with <code>{commandFor(missing)}</code>
            </p>
          </details>
        )}
      </nav>
      <Losses isCurrent={current === "health"} />
      <a
        class="licences quiet"
        href="#licences"
        aria-current={current === "licences" ? "page" : undefined}
      >
        Licences
      </a>
    </aside>
  );
}

/** Returns the words about losses at the foot of the rail. */
export function lossWords(overview: Overview): { words: string; look: "good" | "bad" | "quiet" } {
  if (overview.meta.lost_count > 0) {
    return { words: `${count(overview.meta.lost_count)} events lost`, look: "bad" };
  }
  if (whyLossesUnknown(overview) !== "") return { words: "Losses unknown", look: "quiet" };
  return { words: "Nothing lost", look: "good" };
}

function Losses({ isCurrent }: { isCurrent: boolean }) {
  const overview = useResult("overview");
  useEffect(() => {
    if (overview.state === "ready") deviceWord.value = named("GPU", overview.value);
  }, [overview]);
  if (overview.state !== "ready") return <div class="losses" />;
  const { words, look } = lossWords(overview.value);
  const rows = overview.value.meta.inputs.reduce((sum, input) => sum + input.count, 0);
  const slowdown = overview.value.cost?.slowdown_ratio ?? null;
  return (
    <div class="losses">
      <a class={look} href="#health" aria-current={isCurrent ? "page" : undefined}>
        {words}
      </a>
      <div>
        {count(rows)} events{slowdown !== null && `, cost ${percent(slowdown)}`}
      </div>
    </div>
  );
}

/** The rail of a phone. What was not recorded is listed, and cannot be chosen. */
export function PageList({ entries, badges, current }: RailProps) {
  const missing = missingOf(entries, badges, useHasDevice());
  const shown = entries.flatMap((entry) =>
    withData(entry, badges).map((page) => {
      const isTab = entry.pages.length > 1;
      const title = isTab ? `${entry.title}: ${page.short ?? page.title}` : page.title;
      return { id: page.id, title };
    }),
  );
  return (
    <select
      class="input page-list"
      aria-label="Page"
      value={current}
      onChange={({ currentTarget }) => {
        location.hash = hashOf(currentTarget.value);
      }}
    >
      {shown.map(({ id, title }) => (
        <option key={id} value={id}>
          {inItsWords(title)}
        </option>
      ))}
      {missing.length > 0 && (
        <optgroup label="Not recorded" disabled>
          {missing.map(({ id, title }) => (
            <option key={id} value={id}>
              {inItsWords(title)}
            </option>
          ))}
        </optgroup>
      )}
    </select>
  );
}

/** The pages of one entry as tabs. A page that was not recorded has one while it is shown. */
export function Tabs({ entries, badges, current }: RailProps) {
  const entry = entryOf(entries, current);
  if (entry === undefined || entry.pages.length < 2) return null;
  const there = withData(entry, badges);
  const tabs = entry.pages.filter((page) => there.includes(page) || page.id === current);
  return (
    <nav class="tabs" aria-label={inItsWords(entry.title)}>
      {tabs.map((page) => {
        const badge = badges.pages.get(page.id);
        return (
          <a
            key={page.id}
            href={hashOf(page.id)}
            aria-current={page.id === current ? "page" : undefined}
          >
            {inItsWords(page.short ?? page.title)}
            {badge !== undefined && badge !== "" && badge !== null && <span>{badge}</span>}
          </a>
        );
      })}
    </nav>
  );
}
